/**
 * The web console: a fixed set of files, read once at start. A request can name only one of these, so no path reaches any
 * other file. The files hold nothing secret and ask for a key themselves, so they need no credentials.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuseOtherMethods } from '../replies.ts'
import { needs } from './auth-hook.ts'

const PAGE = 'index.html'
const REST = [
  'api.js',
  'ask.js',
  'console.css',
  'console.js',
  'document-text.js',
  'draft.js',
  'editor.css',
  'editor-view.js',
  'elements.js',
  'findings.js',
  'icon.svg',
  'json-place.js',
  'json-text.js',
  'key.js',
  'list-view.js',
  'list.css',
  'notice.js',
  'saving.js',
  'service-status.js',
  'text-area.js',
] as const

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The page runs its own files only, calls its own origin only, stands in no frame and cannot write HTML from text. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  // Browsers ask again each time: after an update no page mixes old and new files.
  'cache-control': 'no-cache',
}

/** Serves the page at `/` and its parts at `/console/<file>`, all from one folder. Throws if a file is missing. */
export function serveConsole(server: FastifyInstance, folder: URL): void {
  const page = readPart(PAGE, folder)
  serve(server, '/', () => page)
  const parts = new Map<string, Part>(REST.map((name) => [name, readPart(name, folder)]))
  const names = REST.map((name) => name.replaceAll('.', '\\.')).join('|')
  // One route for these names: one for each would take a quarter of the start.
  serve(server, `/console/:name(^(?:${names})$)`, ({ name = '' }) => parts.get(name) as Part)
}

/** A file of the console. */
type Part = Readonly<{ body: Buffer; type: string; etag: string }>

function readPart(name: string, folder: URL): Part {
  const body = readFileSync(new URL(name, folder))
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`
  return { body, type: TYPES[name.slice(name.lastIndexOf('.') + 1)] as string, etag }
}

type Parameters = Readonly<{ name?: string }>

function serve(server: FastifyInstance, url: string, partOf: (parameters: Parameters) => Part): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { body, type, etag } = partOf(request.params as Parameters)
    reply.headers({ ...HEADERS, etag })
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
    return reply.type(type).send(body)
  }
  server.route({ method: ['GET', 'HEAD'], url, ...needs('open'), handler: answer })
  refuseOtherMethods(server, url, ['GET', 'HEAD'], 'open')
}

/** If-None-Match compares weakly (RFC 9110 §13.1.2). */
const isKnown = (condition: string | undefined, etag: string): boolean =>
  (condition ?? '').split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
