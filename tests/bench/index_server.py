"""A loopback Python index: index_server.py WHEELS [--delay SECONDS]; prints its address and serves until it is killed.

PEP 691 JSON or PEP 503 HTML as asked for, byte ranges, connections that stay open; `--delay` is waited before every answer, as a far host's
would be. --static DIR serves that folder below /static/.
"""
import argparse
import hashlib
import html
import json
import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SIMPLE = "application/vnd.pypi.simple.v1+json"


def project_of(wheel):
    return re.sub(r"[-_.]+", "-", wheel.split("-")[0]).lower()


def scan(folder):
    projects = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".whl"):
            path = f"{folder}/{name}"
            with open(path, "rb") as data:
                digest = hashlib.file_digest(data, "sha256").hexdigest()
            projects.setdefault(project_of(name), []).append((name, digest, os.path.getsize(path)))
    return projects


def handler(wheels, projects, static, delay):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_):
            pass

        def page(self, files):
            if SIMPLE in self.headers.get("Accept", ""):
                body = json.dumps({"meta": {"api-version": "1.0"}, "name": project_of(files[0][0]), "files": [
                    {"filename": name, "url": f"/files/{name}", "hashes": {"sha256": digest}, "size": size} for name, digest, size in files]})
                return body.encode(), SIMPLE
            links = "".join(f'<a href="/files/{name}#sha256={digest}">{html.escape(name)}</a>\n' for name, digest, _ in files)
            return f"<!DOCTYPE html><html><body>\n{links}</body></html>\n".encode(), "text/html"

        def send(self, status, body=b"", kind="text/plain", extra=()):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            for key, value in extra:
                self.send_header(key, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def send_file(self, path):
            size = os.path.getsize(path)
            first, last, status = 0, size - 1, 200
            asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
            if asked and (asked[1] or asked[2]):
                first = int(asked[1]) if asked[1] else max(size - int(asked[2]), 0)
                last = min(int(asked[2]), size - 1) if asked[1] and asked[2] else size - 1
                status = 206
                if first >= size:
                    return self.send(416, extra=[("Content-Range", f"bytes */{size}")])
            self.send_response(status)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(last - first + 1))
            self.send_header("Accept-Ranges", "bytes")
            if status == 206:
                self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
            self.end_headers()
            self.wfile.flush()
            if self.command == "HEAD":
                return None
            with open(path, "rb") as data:
                while first <= last:
                    first += os.sendfile(self.connection.fileno(), data.fileno(), first, min(last - first + 1, 1 << 20))
            return None

        def do_GET(self):
            if delay:
                time.sleep(delay)
            path = self.path.split("?")[0]
            project = re.fullmatch(r"/simple/([^/]+)/?", path)
            if project and project[1] in projects:
                return self.send(200, *self.page(projects[project[1]]))
            name = os.path.basename(path)
            if path == f"/files/{name}" and name.endswith(".whl") and os.path.exists(f"{wheels}/{name}"):
                return self.send_file(f"{wheels}/{name}")
            if static and path.startswith("/static/") and ".." not in path and os.path.isfile(static + path[len("/static"):]):
                return self.send_file(static + path[len("/static"):])
            return self.send(404)

        do_HEAD = do_GET

    return Handler


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wheels")
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--static")
    options = parser.parse_args()
    # Room for all connections that a client opens at once: with the default of 5 the kernel drops some of them and the client tries again
    # after a whole second.
    ThreadingHTTPServer.request_queue_size = 128
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(options.wheels, scan(options.wheels), options.static, options.delay))
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(0)


main()
