"""A certificate nobody trusts, made anew by each server with the `openssl` command.

It is self-signed, for the name `localhost` and not for 127.0.0.1, and can serve as the one
authority a client trusts.
"""

import os
import shutil
import ssl
import subprocess
import tempfile


def make():
    """A context for servers and the certificate's file; None where there is no `openssl`."""
    folder = tempfile.mkdtemp(prefix="feathers-tls-")
    certificate, key = os.path.join(folder, "certificate.pem"), os.path.join(folder, "key.pem")
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-newkey", "rsa:2048", "-keyout", key, "-out", certificate]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    try:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        shutil.rmtree(folder, ignore_errors=True)
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate


def remove(certificate):
    shutil.rmtree(os.path.dirname(certificate), ignore_errors=True)
