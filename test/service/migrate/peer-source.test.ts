import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { readSources } from '../../../migrate/import/read-sources.ts'
import { folderWith, importAs, jsonAt, peerDocument, readReport } from '../../support/migrate/import-rig.ts'
import { startUpstream, type Upstream } from '../../support/service.ts'

const stored = { ...peerDocument({ name: 'Running' }), _id: 'a'.repeat(24), __v: 0 }

type Answer = (response: ServerResponse, url: string, headers: IncomingMessage['headers']) => void
const send =
  (body: string, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)

const LIST = JSON.stringify([stored])
const MANY_BYTES = Buffer.alloc(1024 * 1024, ' ')

/** Answers by path; any other path is 404. */
async function peer(
  test: { after(work: () => unknown): void },
  answers: Readonly<Record<string, Answer>>,
): Promise<Upstream> {
  const upstream = await startUpstream(({ url, headers }, response) => {
    const answer = answers[url] ?? send('{"error":"Unknown Endpoint"}', 404)
    answer(response, url, headers)
    return undefined
  })
  test.after(() => upstream.stop())
  return upstream
}

const CASES: Readonly<
  Record<string, Readonly<{ answers: Readonly<Record<string, Answer>>; path?: string; fault?: RegExp }>>
> = {
  'its list': { answers: { '/endpoints': send(LIST) } },
  'its list, asked for by its own URL': { answers: { '/endpoints': send(LIST) }, path: '/endpoints' },
  redirects: {
    answers: {
      '/endpoints': send('', 302, { location: '/a/endpoints' }),
      '/a/endpoints': send('', 308, { location: '../b' }),
      '/b': send(LIST),
    },
  },
  'a circle of redirects': {
    answers: { '/endpoints': send('', 302, { location: '/endpoints' }) },
    fault: /redirects more than 5 times/,
  },
  'a redirect to a file': {
    answers: { '/endpoints': send('', 302, { location: 'file:///etc/passwd' }) },
    fault: /redirects to something other than an http URL/,
  },
  'another service': {
    answers: { '/endpoints': send('{"a":1}') },
    fault: /something other than a list of endpoints; check that the URL/,
  },
  'a page': {
    answers: { '/endpoints': send('<html>canary</html>') },
    fault: /unreadably; check that the URL is that of .* line 1, column 1/,
  },
  'Crosswalk itself, whose documents would be converted once more': {
    answers: { '/endpoints': send(JSON.stringify([{ ...stored, labels: {} }])) },
    fault: /is Crosswalk itself; give the URL of/,
  },
  'an error': { answers: {}, fault: /answered with status 404 to GET \/endpoints; check that the URL/ },
  'an answer that never ends': {
    answers: {
      '/endpoints': (response) => {
        const more = () => {
          while (response.write(MANY_BYTES));
        }
        response.on('drain', more)
        more()
      },
    },
    fault: /gives too much: it has more than 100 MB/,
  },
  'an answer that is cut short': {
    answers: {
      '/endpoints': (response) =>
        void response.writeHead(200, { 'content-length': '100' }).write('[', () => response.destroy()),
    },
    fault: /cannot be reached/,
  },
}

describe('a running service as a source', () => {
  for (const [title, { answers, path = '', fault }] of Object.entries(CASES)) {
    test(title, async (context) => {
      const { url } = await peer(context, answers)
      const { documents, faults } = await readSources([url + path], { output: '/nowhere', timeoutMs: 30_000 })
      if (fault === undefined) {
        assert.deepEqual(faults, [])
        assert.deepEqual(
          documents.map(({ document }) => document),
          [stored],
        )
      } else {
        assert.equal(documents.length, 0)
        assert.match(faults.join('\n'), fault)
        assert.doesNotMatch(faults.join('\n'), /canary/)
      }
    })
  }

  test('that does not answer in time', async (context) => {
    const { url } = await peer(context, { '/endpoints': () => undefined })
    const { faults } = await readSources([url], { output: '/nowhere', timeoutMs: 300 })
    assert.match(faults.join(), /did not answer GET \/endpoints within 0\.3 s/)
  })

  test('that is not there', async (context) => {
    const upstream = await startUpstream(() => ({}))
    await upstream.stop()
    const folder = folderWith({}, context)
    const { code, stderr } = await importAs([upstream.url], { output: join(folder, 'out') })
    assert.equal(code, 3)
    assert.match(stderr, /cannot be reached \(ECONNREFUSED\); check the address/)
  })

  test('a password in its URL goes to its origin alone, and into no output', async (context) => {
    const other = await peer(context, { '/b': send(LIST) })
    const { url, received } = await peer(context, {
      '/endpoints': send('', 302, { location: '/a' }),
      '/a': send('', 302, { location: `${other.url}/b` }),
    })
    const folder = folderWith({}, context)
    const output = join(folder, 'out')
    const source = url.replace('http://', 'http://user:canary%40@')
    const { code, stdout } = await importAs([source], { output })
    assert.equal(code, 0)
    const basic = `Basic ${Buffer.from('user:canary@').toString('base64')}`
    assert.deepEqual(
      received.map(({ headers }) => headers.authorization),
      [basic, basic],
    )
    assert.deepEqual(
      other.received.map(({ headers }) => headers.authorization),
      [undefined],
    )
    assert.deepEqual(readReport(output).sources, [url])
    assert.doesNotMatch(stdout + JSON.stringify(readReport(output)), /canary/)
    assert.equal(jsonAt(output, 'running.json').name, 'Running')
  })
})
