"""What all laws share: the board, memory by address, the phases of a control step, the inner loop."""
