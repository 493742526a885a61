#!/usr/bin/env node
import '../dist/bundle/cli/cli.js';
