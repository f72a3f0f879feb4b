#!/usr/bin/env bash
# Runs the gate, adds what changed to the summary of the job, and fails where a number grew too much.
set -u
# shellcheck disable=SC2086 # several names, separated by spaces
aspenpy gate ${BASELINES:-} --limit "${LIMIT:-1%}" --report gate.md --report gate.xml --report gate.sarif
status=$?
[ -f gate.md ] && cat gate.md >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
exit $status
