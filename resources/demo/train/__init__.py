"""Makes KVStudio's demo model from nothing: text, speech, latents, codec, language model."""
