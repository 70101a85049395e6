"""Real perturbations of the live model, applied at a frame and taken away after the run."""
