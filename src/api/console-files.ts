/**
 * The web console: the page for every URL below /console/, the pages of the guide, and the files of its build. A request can name only a file of that
 * build, so no path reaches any other. The files hold nothing secret and ask for a key themselves, so they need no credentials.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../core/failure.ts'
import { isKnownEtag } from '../endpoints/precondition.ts'
import { pathFromUrl } from '../inbound/http/replies.ts'
import type { ManagementAccess } from './access/management-access.ts'
import { NO_STORE } from './answers.ts'

/** In the log at the start, as the answer of each page, and as the end of an install. */
export const CONSOLE_MISSING = 'The console is not built; `npm ci --include=dev` builds it.'

const HOME = '/console/'
const ASSETS = `${HOME}assets/`
/** The guide: a page for each file of docs/, and what these pages load. */
const GUIDE = `${HOME}docs/`

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
}

/** In order of preference. */
const CODINGS: readonly Readonly<{ coding: string; suffix: string }>[] = [
  { coding: 'br', suffix: '.br' },
  { coding: 'gzip', suffix: '.gz' },
]

/** Where the build leaves the nonce of the page. */
const NONCE_PLACEHOLDER = '%STYLE_NONCE%'

/**
 * The page runs its own files only, calls its own origin and that of `tokenUrl` only, is in no frame and cannot write HTML from
 * text. Its editor adds styles, so these are allowed with the nonce of the answer.
 */
const policyWith = (nonce: string, tokenUrl?: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === '' ? '' : ` 'nonce-${nonce}'`}`,
    "img-src 'self'",
    `connect-src 'self'${tokenUrl === undefined ? '' : ` ${new URL(tokenUrl).origin}`}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

const GUIDE_HEADERS = {
  ...HEADERS,
  'content-security-policy': policyWith(''),
  'cache-control': 'no-cache',
  vary: 'accept-encoding',
}

/** A file's name changes with its content. */
const ASSET_HEADERS = { ...GUIDE_HEADERS, 'cache-control': 'public, max-age=31536000, immutable' }

/** The build in a folder, read when it is asked for. */
export class ConsoleFiles {
  readonly #folder: URL
  readonly #signIn: ManagementAccess['signIn']
  readonly #readAsset: (name: string) => Promise<Asset | undefined>
  readonly #readGuide: (name: string) => Promise<Asset | undefined>
  #page: Promise<string> | undefined

  constructor(folder: URL, signIn: ManagementAccess['signIn']) {
    this.#folder = folder
    this.#signIn = signIn
    this.#readAsset = createAssetReader(new URL('assets/', folder))
    this.#readGuide = createAssetReader(new URL('docs/', folder))
  }

  redirect(reply: FastifyReply): FastifyReply {
    return reply.headers({ ...HEADERS, 'cache-control': 'no-cache' }).redirect(HOME, 307)
  }

  /** Sends the page for each URL below /console/, and its files for those below /console/assets/. Fails with ROUTE_UNKNOWN. */
  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const path = pathFromUrl(request.url)
    if (path.startsWith(GUIDE)) return this.#sendGuide(request, reply, path.slice(GUIDE.length))
    if (!path.startsWith(ASSETS)) return sendPage(reply, await this.#readPage(), await this.#tokenUrl())
    const asset = await this.#readAsset(path.slice(ASSETS.length))
    if (asset === undefined) throw new Failure('ROUTE_UNKNOWN', `There is no file ${path} of the console.`)
    return sendAsset(request, reply, asset, ASSET_HEADERS)
  }

  async #sendGuide(request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply> {
    const file = /\.\w+$/.test(name) ? name : `${name === '' ? 'README' : name}.html`
    const asset = await this.#readGuide(file)
    if (asset === undefined) throw new Failure('ROUTE_UNKNOWN', `The guide has no page "${name}"; ${GUIDE} lists them.`)
    return sendAsset(request, reply, asset, GUIDE_HEADERS)
  }

  /** While the provider is away nobody can sign in there, and the page says so. */
  async #tokenUrl(): Promise<string | undefined> {
    const signIn = await this.#signIn().catch((thrown: unknown) => {
      if (thrown instanceof Failure) return undefined
      throw thrown
    })
    return signIn?.provider.token_endpoint
  }

  #readPage(): Promise<string> {
    this.#page ??= readFile(new URL('index.html', this.#folder), 'utf8').catch((thrown) => {
      this.#page = undefined
      throw missing(thrown)
    })
    return this.#page
  }
}

const missing = (thrown: NodeJS.ErrnoException): Error =>
  thrown.code === 'ENOENT' ? new Failure('ROUTE_UNKNOWN', CONSOLE_MISSING) : thrown

function sendPage(reply: FastifyReply, page: string, tokenUrl: string | undefined): FastifyReply {
  const nonce = randomBytes(16).toString('base64url')
  reply.headers({ ...HEADERS, ...NO_STORE, 'content-security-policy': policyWith(nonce, tokenUrl) })
  return reply.type('text/html; charset=utf-8').send(page.replace(NONCE_PLACEHOLDER, nonce))
}

/** A file of the build. */
type Asset = Readonly<{ type: string; body: Buffer; coded: readonly Coded[]; etag: string }>
/** The same file, compressed. */
type Coded = Readonly<{ coding: string; body: Buffer }>

/** Out: reads a file by its name once; undefined if the build has no such file. */
function createAssetReader(folder: URL): (name: string) => Promise<Asset | undefined> {
  let names: Promise<ReadonlySet<string>> | undefined
  const assets = new Map<string, Promise<Asset>>()
  return async (name) => {
    names ??= readdir(folder, { recursive: true }).then((all) => new Set(all))
    const known = await names.catch((thrown) => {
      names = undefined
      throw missing(thrown)
    })
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
    if (type === undefined || !known.has(name)) return undefined
    const read = (suffix: string) => readFile(new URL(`${name}${suffix}`, folder))
    const reading =
      assets.get(name) ??
      (async () => {
        const body = await read('')
        const coded = CODINGS.filter(({ suffix }) => known.has(`${name}${suffix}`))
        const etag = createHash('sha256').update(body).digest('base64url')
        const bodies = coded.map(async ({ coding, suffix }) => ({ coding, body: await read(suffix) }))
        return { type, body, coded: await Promise.all(bodies), etag }
      })()
    assets.set(name, reading)
    return reading.catch((thrown) => {
      assets.delete(name)
      throw thrown
    })
  }
}

function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, body, coded, etag }: Asset,
  headers: typeof GUIDE_HEADERS,
): FastifyReply {
  const chosen = coded.find(({ coding }) => accepts(request.headers['accept-encoding'], coding))
  // Each coding has an ETag of its own (RFC 9110 §8.8.3.3).
  const tag = `"${etag}${chosen === undefined ? '' : `-${chosen.coding}`}"`
  reply.headers({ ...headers, etag: tag })
  if (isKnownEtag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  if (chosen !== undefined) reply.header('content-encoding', chosen.coding)
  return reply.type(type).send(chosen?.body ?? body)
}

/** True if Accept-Encoding names the coding, or all, with a weight above 0 (RFC 9110 §12.5.3). */
function accepts(header: string | string[] | undefined, coding: string): boolean {
  const weights = new Map(
    String(header ?? '')
      .split(',')
      .map((item) =>
        item
          .trim()
          .toLowerCase()
          .split(/\s*;\s*/),
      )
      .map(([name = '', ...parameters]) => [
        name,
        Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1),
      ]),
  )
  return (weights.get(coding) ?? weights.get('*') ?? 0) > 0
}
