"""KVStudio: a step debugger for the KV cache of pocket-tts."""

__version__ = "0.1.0"
