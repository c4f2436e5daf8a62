package org.example;

import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import dev.sluice.netty.MultipartHandlers;
import java.io.ByteArrayInputStream;

public class Plain {
    public static void main(String[] args) throws Exception {
        byte[] body = ("--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n"
                        + "x".repeat(100_000) + "\r\n--B--\r\n")
                .getBytes();
        try (Forms forms = Forms.open();
                MultipartForm form = forms.read(new ByteArrayInputStream(body), "multipart/form-data; boundary=B")) {
            if (form.file("file").size() != 100_000) {
                throw new AssertionError(form.file("file"));
            }
            boolean named = MultipartHandlers.class.getModule().isNamed();
            System.out.println("read by " + (named ? "a module" : "a class path"));
        }
    }
}
