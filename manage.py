#!/usr/bin/env python3
"""Django's command line for loopd; finds database and secret as the server does (`loopd.env`)."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loopd.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:  # a setting that stops the start: its name and what is wrong say it all
        sys.exit(f"loopd cannot start: {error}")


if __name__ == "__main__":
    main()
