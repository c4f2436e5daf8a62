package dev.sluice.samples.upload.readme;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.multipart.Attribute;
import io.netty.handler.codec.http.multipart.DefaultHttpDataFactory;
import io.netty.handler.codec.http.multipart.FileUpload;
import io.netty.handler.codec.http.multipart.HttpPostMultipartRequestDecoder;
import io.netty.handler.codec.http.multipart.InterfaceHttpData;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.UUID;

/** The endpoint of the page on migration with the decoder of netty-codec-http. */
record NettyEndpoint(Path spool) {
    // @start region="netty"
    Receipt receive(InputStream body, String contentType, Path store) throws IOException {
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/upload");
        request.headers().set(HttpHeaderNames.CONTENT_TYPE, contentType);
        DefaultHttpDataFactory factory = new DefaultHttpDataFactory(64L << 10);
        factory.setBaseDir(spool.toString());
        factory.setMaxLimit(64L << 20); // of each part, not of the body
        HttpPostMultipartRequestDecoder decoder = new HttpPostMultipartRequestDecoder(factory, request);
        String title = "";
        int files = 0;
        long bytes = 0;
        try {
            byte[] chunk = new byte[32 << 10];
            for (int count; (count = body.read(chunk)) >= 0; ) {
                offer(decoder, new DefaultHttpContent(Unpooled.copiedBuffer(chunk, 0, count)));
            }
            offer(decoder, LastHttpContent.EMPTY_LAST_CONTENT);
            for (InterfaceHttpData data : decoder.getBodyHttpDatas()) {
                if (data instanceof Attribute attribute) {
                    title = attribute.getName().equals("title") ? attribute.getValue() : title;
                } else if (data instanceof FileUpload file
                        && !file.getFilename().isEmpty()) { // no file chosen
                    bytes += file.length();
                    file.renameTo(new File(store.toFile(), UUID.randomUUID().toString()));
                    files++;
                }
            }
        } finally {
            decoder.destroy();
        }
        return new Receipt(title, files, bytes);
    }

    private static void offer(HttpPostMultipartRequestDecoder decoder, HttpContent content) {
        try {
            decoder.offer(content);
        } finally {
            content.release();
        }
    }
    // @end
}
