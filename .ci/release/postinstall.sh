#!/bin/sh
# Runs after the files of the package are in place, at an upgrade, too.
set -e
getent passwd vestibule > /dev/null || useradd --system --user-group --home-dir /var/lib/vestibule --no-create-home --shell /usr/sbin/nologin vestibule
# It may get secrets later: dsn, for one.
chown root:vestibule /etc/vestibule/config.hcl
chmod 0640 /etc/vestibule/config.hcl
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart vestibule.service
fi
