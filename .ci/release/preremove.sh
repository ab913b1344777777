#!/bin/sh
# Runs before the files of the package go. At an upgrade ("upgrade" says Debian's, 1
# the others' package manager) the host goes on serving until it is restarted.
set -e
case "$1" in
upgrade | 1) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	systemctl disable --now vestibule.service
fi
