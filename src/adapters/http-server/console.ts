/**
 * The web console: a fixed set of files, read once at start. What a request names is only ever looked up among them,
 * so that no path can reach any other file. They hold nothing secret and ask for a key themselves, so they are open.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuseOtherMethods } from './management.ts'
import { needs } from './protect.ts'

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

/** The page runs its own files only, talks to its own origin only, is framed by nobody and cannot write HTML from text. */
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

/** Serves the page at `/` and its parts at `/console/<file>`, all from one folder. Throws where a file is missing. */
export function serveConsole(server: FastifyInstance, folder: URL): void {
  serveFile(server, '/', new URL(PAGE, folder))
  for (const name of REST) serveFile(server, `/console/${name}`, new URL(name, folder))
}

function serveFile(server: FastifyInstance, url: string, file: URL): void {
  const body = readFileSync(file)
  const headers = {
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    // Kept by browsers, but asked for each time: after an update no page is made of old and new files.
    'cache-control': 'no-cache',
    etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
  }
  const type = TYPES[file.pathname.slice(file.pathname.lastIndexOf('.') + 1)] as string
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(headers)
    if (isKnown(request.headers['if-none-match'], headers.etag)) return reply.code(304).send()
    return reply.type(type).send(body)
  }
  server.route({ method: ['GET', 'HEAD'], url, ...needs('open'), handler: answer })
  refuseOtherMethods(server, url, ['GET', 'HEAD'], 'open')
}

/** If-None-Match compares weakly (RFC 9110 §13.1.2). */
const isKnown = (condition: string | undefined, etag: string): boolean =>
  (condition ?? '').split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
