"""The worker of the task outbox: it accounts, protects, wakes and delivers, one event of a task after the other."""
