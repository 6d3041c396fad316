#!/usr/bin/env bash
# The gate for continuous integration: exit code 0 while the theorem stands, 1 once it does not.
exec dpsco-verify audit --paper own-mean --profile "${PROFILE:-quick}" --out reports/own-mean --no-store
