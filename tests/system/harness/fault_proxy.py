"""A proxy between the gateway and a store that misbehaves on command.

It is a process of its own, so that its work never delays the client that measures. Commands come
as lines on stdin, each is answered by one line:

  pass          forward unchanged; what `hold` kept is delivered now, late
  delay MS      each piece of a reply comes so much later
  hold          nothing passes in either direction, connections stay open
  halfhole      commands reach the server, replies are lost
  blackhole     everything is read and thrown away, new connections included
  refuse        reset every connection and close the listening socket; any other mode opens it again
  reset         reset every connection, and new ones at once
  close         close every connection in order, and new ones at once
  cut           reset each connection in the middle of its next reply
  drip          replies come one byte every 20 ms
  garbage       replies are replaced by bytes that are no reply
  dup           each reply comes twice
  error TEXT    every command to Redis is answered with -TEXT and goes no further
"""
import asyncio
import os
import socket
import struct
import subprocess
import sys

GARBAGE = b"\x00\xff*?$-7\r\nHTTP/1.1 400 Bad Request\r\n\r\n"


class Proxy:
    def __init__(self, port, server_port):
        self.port, self.server_port = port, server_port
        self.mode, self.argument = "pass", ""
        self.changed = asyncio.Event()
        self.writers = set()
        self.listening = None

    async def listen(self):
        self.listening = await asyncio.start_server(self.serve, "127.0.0.1", self.port, backlog=512)

    async def set(self, mode, argument):
        self.mode, self.argument = mode, argument
        self.changed.set()
        self.changed = asyncio.Event()
        if mode == "refuse":
            self.listening.close()
            self.listening = None
        elif self.listening is None:
            await self.listen()
        if mode in ("refuse", "reset"):
            for w in list(self.writers):
                reset(w)
        elif mode == "close":
            for w in list(self.writers):
                w.close()

    async def serve(self, client_reader, client_writer):
        if self.mode in ("reset", "close"):
            reset(client_writer) if self.mode == "reset" else client_writer.close()
            return
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.server_port)
        self.writers |= {client_writer, server_writer}
        pumps = [
            asyncio.create_task(self.commands(client_reader, server_writer, client_writer)),
            asyncio.create_task(self.replies(server_reader, client_writer)),
        ]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for p in pumps:
            p.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        for w in (client_writer, server_writer):
            self.writers.discard(w)
            w.close()

    async def held(self):
        while self.mode == "hold":
            await self.changed.wait()

    async def commands(self, reader, server, client):
        while data := await reader.read(65536):
            await self.held()
            if self.mode == "error":
                client.write(b"-%s\r\n" % self.argument.encode() * commands_in(data))
            elif self.mode != "blackhole":
                server.write(data)

    async def replies(self, reader, client):
        while data := await reader.read(65536):
            await self.held()
            if self.mode in ("halfhole", "blackhole"):
                continue
            if self.mode == "delay":
                await asyncio.sleep(float(self.argument) / 1000)
            if self.mode == "cut":
                client.write(data[: len(data) // 2])
                await asyncio.sleep(0.002)
                reset(client)
                return
            if self.mode == "drip":
                for i in range(len(data)):
                    client.write(data[i : i + 1])
                    await asyncio.sleep(0.02)
                continue
            client.write({"garbage": GARBAGE, "dup": data + data}.get(self.mode, data))


def reset(writer):
    s = writer.get_extra_info("socket")
    if s is not None:
        try:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
    writer.transport.abort()


def commands_in(data):
    """How many commands begin in `data`: arrays do, and nothing else at the start of a line does."""
    return sum(line[:1] == b"*" and line[1:].isdigit() for line in data.split(b"\r\n"))


async def main(port, server_port):
    proxy = Proxy(port, server_port)
    await proxy.listen()
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
    )
    print("ok", flush=True)
    while line := (await lines.readline()).decode().strip():
        mode, _, argument = line.partition(" ")
        await proxy.set(mode, argument)
        print("ok", flush=True)


class FaultProxy:
    """The tests' side of it."""

    def __init__(self, server_port):
        from harness.process import Child, free_port  # the proxy's own process does without

        self.port = free_port()
        self._server_port = server_port
        words = [sys.executable, os.path.abspath(__file__), str(self.port), str(server_port)]
        self._child = Child(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._await_ok()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}/0"

    def in_front(self, url):
        """That of its server, by way of the proxy."""
        return url.replace(f":{self._server_port}/", f":{self.port}/")

    def set(self, mode):
        self._child.stdin.write(mode.encode() + b"\n")
        self._child.stdin.flush()
        self._await_ok()

    def _await_ok(self):
        assert self._child.stdout.readline() == b"ok\n", self._child.lines

    def stop(self):
        self._child.stop()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
