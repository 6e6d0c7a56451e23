"""A TLS client by OpenSSL's own functions, for what Python's ssl cannot say: updates of keys."""
import ctypes
import ctypes.util
import socket

SSL = ctypes.CDLL(ctypes.util.find_library("ssl"))
for name, result, arguments in (
    ("TLS_client_method", "p", ""),
    ("SSL_CTX_new", "p", "p"),
    ("SSL_CTX_free", None, "p"),
    ("SSL_new", "p", "p"),
    ("SSL_free", None, "p"),
    ("SSL_set_fd", "i", "pi"),
    ("SSL_connect", "i", "p"),
    ("SSL_key_update", "i", "pi"),
    ("SSL_do_handshake", "i", "p"),
    ("SSL_write", "i", "psi"),
    ("SSL_read", "i", "psi"),
):
    kinds = {"p": ctypes.c_void_p, "i": ctypes.c_int, "s": ctypes.c_char_p, None: None}
    function = getattr(SSL, name)
    function.restype, function.argtypes = kinds[result], [kinds[a] for a in arguments]


class OpensslClient:
    """Trusts whoever answers."""

    def __init__(self, address):
        self._socket = socket.create_connection(address, 10)
        self._socket.settimeout(None)
        self._context = SSL.SSL_CTX_new(SSL.TLS_client_method())
        self._ssl = SSL.SSL_new(self._context)
        SSL.SSL_set_fd(self._ssl, self._socket.fileno())
        assert SSL.SSL_connect(self._ssl) == 1

    def send(self, text):
        """False: the connection is gone."""
        return SSL.SSL_write(self._ssl, text, len(text)) == len(text)

    def receive(self):
        """What comes next; empty at the end."""
        into = ctypes.create_string_buffer(65536)
        count = SSL.SSL_read(self._ssl, into, len(into))
        return into.raw[: max(count, 0)]

    def update_keys(self, requested=True):
        """False: the connection is gone."""
        updated = SSL.SSL_key_update(self._ssl, int(requested)) == 1
        return updated and SSL.SSL_do_handshake(self._ssl) == 1

    def stop(self):
        SSL.SSL_free(self._ssl)
        SSL.SSL_CTX_free(self._context)
        self._socket.close()
