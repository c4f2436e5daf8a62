"""Sends forms with requests, httpx or aiohttp. See ../README.md."""

import json
import sys


def bytes(part):
    with open(part["file"], "rb") as file:
        return file.read()


def requests_client(url, parts):
    import requests

    # A file name of None makes a plain field. A list keeps the order and repeated names.
    files = [
        (part["name"], (part["filename"], open(part["file"], "rb"), part["type"]))
        if "file" in part
        else (part["name"], (None, part["text"]))
        for part in parts
    ]
    with requests.Session() as session:
        session.trust_env = False
        answer = session.post(url, files=files, timeout=60)
        return answer.status_code, answer.text


def httpx_client(url, parts):
    import httpx

    files = [
        (part["name"], (part["filename"], open(part["file"], "rb"), part["type"]))
        if "file" in part
        else (part["name"], (None, part["text"].encode("utf-8"), None))
        for part in parts
    ]
    with httpx.Client(trust_env=False, timeout=60) as client:
        answer = client.post(url, files=files)
        return answer.status_code, answer.text


def aiohttp_client(url, parts):
    import asyncio

    import aiohttp

    async def send():
        # With quote_fields=True a non-ASCII field name is sent as name*, which RFC 7578 does not define.
        form = aiohttp.FormData(quote_fields=False, default_to_multipart=True)
        for part in parts:
            if "file" in part:
                form.add_field(part["name"], bytes(part), filename=part["filename"], content_type=part["type"])
            else:
                form.add_field(part["name"], part["text"])
        async with aiohttp.ClientSession() as session:
            async with session.post(url, data=form) as answer:
                return answer.status, await answer.text()

    return asyncio.run(send())


CLIENTS = {"requests": requests_client, "httpx": httpx_client, "aiohttp": aiohttp_client}


def main():
    for line in sys.stdin:
        with open(line.rstrip("\n"), encoding="utf-8") as file:
            job = json.load(file)
        status, body = CLIENTS[job["client"]](job["url"], job["parts"])
        print(json.dumps({"status": status, "body": body}), flush=True)


if __name__ == "__main__":
    main()
