"""Reads forms with a parser of Python: reader.py werkzeug|django|email|aiohttp. What goes in and out: README.md."""
import asyncio
import importlib.metadata
import io
import struct
import sys


def werkzeug_parts(content_type, body):
    from werkzeug.http import parse_options_header
    from werkzeug.sansio.multipart import Data, Epilogue, File, MultipartDecoder, NeedData, Preamble

    kind, options = parse_options_header(content_type)
    if kind != "multipart/form-data" or not options.get("boundary"):
        raise ValueError("no form")
    # As FormDataParser uses it, which keeps fields and files in two lists and so loses their order.
    decoder = MultipartDecoder(options["boundary"].encode("ascii"))
    decoder.receive_data(body)
    decoder.receive_data(None)
    parts = []
    while not isinstance(event := decoder.next_event(), (Epilogue, NeedData)):
        if isinstance(event, Data):
            parts[-1][2].append(event.data)
        elif not isinstance(event, Preamble):
            parts.append((event.name, event.filename if isinstance(event, File) else None, []))
    if isinstance(event, NeedData):
        raise ValueError("the end is missing")
    return [(name, filename, b"".join(content)) for name, filename, content in parts]


def django_reader():
    import django
    from django.conf import settings
    from django.core.files.uploadhandler import MemoryFileUploadHandler
    from django.http import QueryDict, multipartparser

    settings.configure(DATA_UPLOAD_MAX_MEMORY_SIZE=None, DATA_UPLOAD_MAX_NUMBER_FIELDS=None)
    django.setup()
    order = []

    # Fields and files are in two lists; these two remember the order.
    class Fields(QueryDict):
        def appendlist(self, key, value):
            order.append((key, None, value.encode("utf-8", "surrogatepass")))

    class Files(multipartparser.MultiValueDict):
        def appendlist(self, key, value):
            order.append((key, value.name, value.read()))

    django.http.QueryDict = Fields
    multipartparser.MultiValueDict = Files

    def parts(content_type, body):
        order.clear()
        handler = MemoryFileUploadHandler()
        meta = {"CONTENT_TYPE": content_type, "CONTENT_LENGTH": str(len(body))}
        multipartparser.MultiPartParser(meta, io.BytesIO(body), [handler], "utf-8").parse()
        return list(order)

    return parts


def email_parts(content_type, body):
    from email import policy
    from email.parser import BytesParser, Parser

    # Of text it gives names in UTF-8, of bytes the content as it is.
    head = "Content-Type: " + content_type + "\r\n\r\n"
    text = Parser(policy=policy.HTTP).parsestr(head + body.decode("utf-8", "surrogateescape"))
    message = BytesParser(policy=policy.HTTP).parsebytes(head.encode("utf-8") + body)
    if not message.is_multipart() or message.defects:
        raise ValueError(repr(message.defects))
    parts = []
    for names, part in zip(text.get_payload(), message.get_payload(), strict=True):
        content = part.get_payload(decode=True)
        if content is None:
            # A message within is parsed too, and of it nothing is kept as it was.
            content = b"".join(each.as_bytes() for each in part.get_payload())
        name = names.get_param("name", header="content-disposition")
        parts.append((name, names.get_param("filename", header="content-disposition"), content))
    return parts


def aiohttp_reader():
    from aiohttp import MultipartReader
    from aiohttp.base_protocol import BaseProtocol
    from aiohttp.streams import StreamReader
    from multidict import CIMultiDict

    loop = asyncio.new_event_loop()

    async def read(content_type, body):
        stream = StreamReader(BaseProtocol(loop), 2**16, loop=loop)
        stream.feed_data(body)
        stream.feed_eof()
        reader = MultipartReader(CIMultiDict({"Content-Type": content_type}), stream)
        parts = []
        while (part := await reader.next()) is not None:
            parts.append((part.name, part.filename, bytes(await part.read(decode=True))))
        return parts

    return lambda content_type, body: loop.run_until_complete(read(content_type, body))


def packed(value):
    if value is None:
        return struct.pack(">i", -1)
    data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
    return struct.pack(">i", len(data)) + data


def answer(parts):
    return b"\1" + struct.pack(">i", len(parts)) + b"".join(packed(value) for part in parts for value in part)


def main():
    readers = {"werkzeug": lambda: werkzeug_parts, "django": django_reader, "email": lambda: email_parts,
               "aiohttp": aiohttp_reader}
    read = readers[sys.argv[1]]()
    version = sys.version.split()[0] if sys.argv[1] == "email" else importlib.metadata.version(sys.argv[1])
    sys.stdout.buffer.write(packed(version))
    sys.stdout.buffer.flush()
    while len(header := sys.stdin.buffer.read(4)) == 4:
        batch = io.BytesIO(sys.stdin.buffer.read(*struct.unpack(">i", header)))
        answers = []
        while len(size := batch.read(4)) == 4:
            content_type = batch.read(*struct.unpack(">i", size)).decode("utf-8")
            body = batch.read(*struct.unpack(">i", batch.read(4)))
            try:
                answers.append(answer(read(content_type, body)))
            except Exception as e:
                answers.append(b"\0" + packed(type(e).__name__ + ": " + str(e)[:200]))
        reply = b"".join(answers)
        sys.stdout.buffer.write(struct.pack(">i", len(reply)) + reply)
        sys.stdout.buffer.flush()


main()
