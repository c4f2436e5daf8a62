"""Reads forms with a parser of Python. The argument names its package; the README of the suite describes the protocol."""
import asyncio
import functools
import importlib.metadata
import io
import re
import struct
import sys


class Chunks(io.BytesIO):
    """A body that is read as from a socket: at most one chunk at a time."""

    def __init__(self, chunks):
        super().__init__(b"".join(chunks))
        self.largest = max(map(len, chunks), default=0)

    def read(self, size=-1):
        return super().read(self.largest if size is None or size < 0 else min(size, self.largest))


def environment(content_type, chunks):
    """Returns a request of WSGI, in which headers are text in ISO-8859-1."""
    return {"REQUEST_METHOD": "POST", "PATH_INFO": "/", "CONTENT_TYPE": content_type.encode().decode("latin-1"),
            "CONTENT_LENGTH": str(sum(map(len, chunks))), "wsgi.input": Chunks(chunks)}


def finished(coroutine):
    """Returns the result of a coroutine that never waits, because the whole body is available. An event loop would take longer."""
    try:
        coroutine.send(None)
    except StopIteration as e:
        return e.value
    sys.exit("The parser waits.")


def werkzeug_parts(content_type, chunks):
    from werkzeug.http import parse_options_header
    from werkzeug.sansio.multipart import Data, Epilogue, File, MultipartDecoder, NeedData, Preamble

    kind, options = parse_options_header(content_type)
    if kind != "multipart/form-data" or not options.get("boundary"):
        raise ValueError("no form")
    # FormDataParser uses MultipartDecoder in this way, but loses the order of fields and files.
    decoder = MultipartDecoder(options["boundary"].encode("ascii"))
    parts = []
    for chunk in [*chunks, None]:
        decoder.receive_data(chunk)
        while not isinstance(event := decoder.next_event(), (Epilogue, NeedData)):
            if isinstance(event, Data):
                parts[-1][2].append(event.data)
            elif not isinstance(event, Preamble):
                parts.append((event.name, event.filename if isinstance(event, File) else None, []))
        if isinstance(event, Epilogue):
            break
    if isinstance(event, NeedData):
        raise ValueError("the end is missing")
    return [(name, filename, b"".join(content)) for name, filename, content in parts]


def django_reader():
    import django
    from django.conf import settings
    from django.core.handlers.wsgi import WSGIRequest
    from django.http import QueryDict, multipartparser

    settings.configure(DATA_UPLOAD_MAX_MEMORY_SIZE=None, DATA_UPLOAD_MAX_NUMBER_FIELDS=None,
                       DATA_UPLOAD_MAX_NUMBER_FILES=None)
    django.setup()
    order = []

    # Django keeps fields and files in two lists. These two classes record the order.
    class Fields(QueryDict):
        def appendlist(self, key, value):
            order.append((key, None, value.encode("utf-8", "surrogatepass")))

    class Files(multipartparser.MultiValueDict):
        def appendlist(self, key, value):
            order.append((key, value.name, value.read()))

    django.http.QueryDict = Fields
    multipartparser.MultiValueDict = Files

    def parts(content_type, chunks):
        order.clear()
        request = WSGIRequest(environment(content_type, chunks))
        if request.content_type != "multipart/form-data":
            raise ValueError("no form")
        request.POST
        return list(order)

    return parts


def email_reader():
    from email import policy
    from email.parser import BytesParser, Parser

    # The message parses a header again each time it is needed.
    rules = policy.HTTP.clone(header_factory=functools.lru_cache(10000)(policy.HTTP.header_factory))
    return lambda content_type, chunks: email_parts(content_type, b"".join(chunks), Parser(policy=rules), BytesParser(policy=rules))


def email_parts(content_type, body, text_parser, bytes_parser):
    # A message parsed from text has names in UTF-8. The same message parsed from bytes has the unchanged content.
    head = "Content-Type: " + content_type + "\r\n\r\n"
    message = bytes_parser.parsebytes(head.encode("utf-8") + body)
    ascii = head.isascii() and body.isascii()
    text = message if ascii else text_parser.parsestr(head + body.decode("utf-8", "surrogateescape"))
    if not message.is_multipart() or message.defects:
        raise ValueError(repr(message.defects))
    parts = []
    for names, part in zip(text.get_payload(), message.get_payload(), strict=True):
        content = part.get_payload(decode=True)
        if content is None:
            # The content is a message. Its bytes are not kept, because it was parsed too.
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
    # aiohttp calls it more than a hundred times for each Content-Disposition.
    re.escape = functools.lru_cache(1000)(re.escape)

    async def read(content_type, chunks):
        stream = StreamReader(BaseProtocol(loop), 2**16, loop=loop)
        for chunk in chunks:
            stream.feed_data(chunk)
        stream.feed_eof()
        reader = MultipartReader(CIMultiDict({"Content-Type": content_type}), stream)
        parts = []
        while (part := await reader.next()) is not None:
            parts.append((part.name, part.filename, bytes(await part.read(decode=True))))
        return parts

    return lambda content_type, chunks: finished(read(content_type, chunks))


def multipart_reader():
    import importlib.util

    # The package python-multipart installs a module of the same name.
    path = importlib.metadata.distribution("multipart").locate_file("multipart.py")
    spec = importlib.util.spec_from_file_location("multipart_of_defnull", path)
    multipart = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = multipart
    spec.loader.exec_module(multipart)
    # The library decodes a field in the charset of its Content-Type. The comparison needs the bytes.
    multipart.MultipartPart.value = property(lambda part: part.raw)
    order = []

    # The library keeps fields and files in two dictionaries. This class records the order.
    class Parts(multipart.MultiDict):
        def append(self, key, value):
            file = isinstance(value, multipart.MultipartPart)
            order.append((key, value.filename if file else None, value.raw if file else value))

    multipart.MultiDict = Parts

    def parts(content_type, chunks):
        order.clear()
        multipart.parse_form_data(environment(content_type, chunks), ignore_errors=False, header_limit=100, part_limit=1000)
        return list(order)

    return parts


def python_multipart_parts(content_type, chunks):
    from python_multipart import parse_form

    def file(found):
        found.file_object.seek(0)
        parts.append((found.field_name, found.file_name, found.file_object.read()))

    parts = []
    length = str(sum(map(len, chunks)))
    parse_form({"Content-Type": content_type, "Content-Length": length}, io.BytesIO(b"".join(chunks)),
               lambda found: parts.append((found.field_name, None, found.value or b"")), file,
               max(map(len, chunks), default=1) or 1)
    return parts


def starlette_reader():
    from starlette.formparsers import MultiPartParser
    from starlette.requests import Request

    MultiPartParser.spool_max_size = 2**30

    async def read(content_type, chunks):
        messages = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
        messages.append({"type": "http.request", "body": b"", "more_body": False})

        async def receive():
            return messages.pop(0)

        scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"content-type", content_type.encode())]}
        parts = []
        for name, value in (await Request(scope, receive).form()).multi_items():
            file = not isinstance(value, str)
            parts.append((name, value.filename if file else None, await value.read() if file else value))
        return parts

    return lambda content_type, chunks: finished(read(content_type, chunks))


def falcon_reader():
    from falcon import Request
    from falcon.media import MultipartFormHandler

    def parts(content_type, chunks):
        # Applications read a form in this way.
        request = Request(environment(content_type, chunks) | {"SERVER_NAME": "a", "SERVER_PORT": "80", "wsgi.errors": sys.stderr})
        handler = MultipartFormHandler()
        handler.parse_options.max_body_part_buffer_size = 2**30
        form = handler.deserialize(request.bounded_stream, request.content_type, request.content_length)
        return [(part.name, part.filename, part.get_data()) for part in form]

    return parts


def packed(value):
    if value is None:
        return struct.pack(">i", -1)
    data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
    return struct.pack(">i", len(data)) + data


def answer(parts):
    return b"\1" + struct.pack(">i", len(parts)) + b"".join(packed(value) for part in parts for value in part)


def main():
    readers = {"werkzeug": lambda: werkzeug_parts, "django": django_reader, "email": email_reader,
               "aiohttp": aiohttp_reader, "multipart": multipart_reader, "starlette": starlette_reader,
               "python-multipart": lambda: python_multipart_parts, "falcon": falcon_reader}
    read = readers[sys.argv[1]]()
    version = sys.version.split()[0] if sys.argv[1] == "email" else importlib.metadata.version(sys.argv[1])
    sys.stdout.buffer.write(packed(version))
    sys.stdout.buffer.flush()
    while len(header := sys.stdin.buffer.read(4)) == 4:
        batch = io.BytesIO(sys.stdin.buffer.read(*struct.unpack(">i", header)))
        answers = []
        while len(size := batch.read(4)) == 4:
            content_type = batch.read(*struct.unpack(">i", size)).decode("utf-8")
            chunk, length = struct.unpack(">ii", batch.read(8))
            body = batch.read(length)
            chunks = [body[at:at + chunk] for at in range(0, length, chunk)] if chunk else [body]
            try:
                answers.append(answer(read(content_type, chunks)))
            except Exception as e:
                answers.append(b"\0" + packed(type(e).__name__ + ": " + str(e)[:200]))
        reply = b"".join(answers)
        sys.stdout.buffer.write(struct.pack(">i", len(reply)) + reply)
        sys.stdout.buffer.flush()


main()
