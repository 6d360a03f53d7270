/**
 * Starts Node.js 24 or newer, whatever Node.js the machine has: the service runs TypeScript directly and uses node:sqlite,
 * which older versions lack. Plain JavaScript, because Node.js 18 and newer must run it; CommonJS, because it starts faster.
 */
const { spawn } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { constants } = require('node:os')

const NEEDED_MAJOR = 24
const INSTALL = 'Install Node.js 24 or newer from https://nodejs.org and try again.'

/** Signals that only the launcher receives and passes on to the child. */
const FORWARDED = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGCONT']

/** Signals that the keys of a terminal send to both the launcher and the child. */
const FROM_KEYS = ['SIGINT', 'SIGQUIT']

/**
 * Runs Node.js with these arguments and exits as it does: with its exit code, or by the signal that killed it.
 *
 * The child uses the launcher's standard streams. Without a Node.js that is new enough, exits with 1 and one sentence.
 *
 * @param {readonly string[]} args
 */
function launch(args) {
  const node = findNode()
  if (node === undefined) {
    fail(
      `Crosswalk needs Node.js ${NEEDED_MAJOR} or newer; this is ${process.versions.node}, and no package with a newer one is installed for ${process.platform}-${process.arch}. ${INSTALL}`,
    )
    return
  }

  /** @type {import('node:child_process').ChildProcess | undefined} */
  let child
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      if (FROM_KEYS.includes(signal) && isInForeground()) return
      child?.kill(signal)
    })
  }
  child = spawn(node, args, { stdio: 'inherit' })
  child.on('error', (error) => fail(`${node} cannot be started (${error.code ?? error.message}). ${INSTALL}`))
  child.on('exit', (code, signal) => {
    if (signal === null) process.exitCode = code ?? 1
    else exitBy(signal)
  })
}

/** The path of a Node.js that is new enough: this one, or the one that npm installed for this platform. */
function findNode() {
  if (Number.parseInt(process.versions.node, 10) >= NEEDED_MAJOR) return process.execPath
  try {
    // The package's own `.bin` link is missing under some versions of npm; the file itself is always there.
    return require.resolve(`node-${process.platform}-${process.arch}/bin/node`)
  } catch {
    return undefined
  }
}

/**
 * Whether the keys of the terminal go to this process group. Then the kernel sends the signal to the child too, and forwarding
 * would deliver it twice: a second Ctrl-C means "exit at once".
 */
function isInForeground() {
  try {
    // Linux, proc_pid_stat(5): after the name in parentheses come state, ppid, pgrp, session, tty_nr, tpgid.
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return group === foreground
  } catch {
    return process.stdin.isTTY === true
  }
}

/** Exits by the signal that killed the child, so that the parent process sees the real cause. */
function exitBy(signal) {
  for (const name of FORWARDED) process.removeAllListeners(name)
  // If the signal does not kill this process, the exit code reports it as shells do.
  process.exitCode = 128 + (constants.signals[signal] ?? 0)
  process.kill(process.pid, signal)
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 1
}

module.exports = { launch }
