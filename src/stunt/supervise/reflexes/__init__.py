"""What a body does by itself: balance, stumble, fall, roll, get up, duck, and more."""
