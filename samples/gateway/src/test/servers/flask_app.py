"""An application of Flask. It prints its port, and responds to a form with the parts that it finds. The README describes the response."""
import hashlib

from flask import Flask, request
from werkzeug.serving import make_server

app = Flask(__name__)


@app.post("/")
def receive():
    parts = [(name, "-", value.encode()) for name, value in request.form.items(multi=True)]
    parts += [(name, file.filename, file.read()) for name, file in request.files.items(multi=True)]
    lines = [request.headers.get("Content-Length", "chunked")]
    lines += ["\t".join((name, filename, hashlib.sha256(content).hexdigest())) for name, filename, content in parts]
    return "\n".join(lines), {"Content-Type": "text/plain; charset=utf-8"}


server = make_server("127.0.0.1", 0, app, threaded=True)
print(server.port, flush=True)
server.serve_forever()
