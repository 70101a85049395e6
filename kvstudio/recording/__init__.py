"""The file: schema, writer, reader, run specs, and the messages of the engine protocol."""
