/** The pages of docs/ as the console serves them: HTML without scripts, images and links that lead out of docs/. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'
import type { GlossaryRow } from '../../console/src/api/glossary-row.ts'

/** In: the folder of the sources. Writes a page for each file of docs/, their styles, and the glossary as JSON. */
export function writeGuide(root: string, folder: string): void {
  const docs = join(root, 'docs')
  const names = globSync('**/*.md', { cwd: docs }).map((path) => path.slice(0, -'.md'.length))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (const name of names)
    write(`${name}.html`, renderPage(name, readFileSync(join(docs, `${name}.md`), 'utf8'), names))
  write(
    'guide.css',
    coloursIn(readFileSync(join(root, 'console/src/ui/styles/base.css'), 'utf8')) +
      readFileSync(join(root, 'console/guide.css'), 'utf8'),
  )
  write('glossary.json', JSON.stringify(readGlossary(readFileSync(join(docs, 'glossary.md'), 'utf8'))))
}

const HOME = '/console/docs/'

function renderPage(name: string, markdown: string, names: readonly string[]): string {
  const marked = new Marked({
    renderer: {
      html: ({ text }) => (text.startsWith('<!--') ? '' : escapeHtml(text)),
      image: () => '',
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${escapeHtml(toAnchor(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const to = resolveLink(name, href, names)
        const inner = this.parser.parseInline(tokens)
        return to === undefined ? inner : `<a href="${escapeHtml(to)}">${inner}</a>`
      },
      code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
      table({ header, rows }) {
        const cells = (row: readonly Tokens.TableCell[], tag: string) =>
          row
            .map(
              ({ tokens }) =>
                `<${tokens.length === 0 ? 'td' : tag}>${this.parser.parseInline(tokens)}</${tokens.length === 0 ? 'td' : tag}>`,
            )
            .join('')
        const head = header.every(({ tokens }) => tokens.length === 0)
          ? ''
          : `<thead><tr>${cells(header, 'th')}</tr></thead>`
        const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
        return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>${body}</tbody></table></div>\n`
      },
    },
  })
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? name
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Crosswalk</title>
<link rel="stylesheet" href="${HOME}guide.css">
</head>
<body>
<header><a href="/console/">Console</a><a href="${HOME}">All pages of the guide</a><a href="${HOME}glossary">Glossary</a></header>
<main>
${marked.parse(markdown, { async: false })}</main>
</body>
</html>
`
}

/** The name under which GitHub links to a heading. */
export const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

/** Undefined for a link to a file that is not a page of the guide: the console does not serve it. */
function resolveLink(from: string, href: string, names: readonly string[]): string | undefined {
  if (/^https?:/.test(href) || href.startsWith('#')) return href
  const [path = '', anchor] = href.split('#')
  const name = posix.join(posix.dirname(from), path).replace(/\.md$/, '')
  if (!names.includes(name)) return undefined
  return HOME + (name === 'README' ? '' : name) + (anchor === undefined ? '' : `#${anchor}`)
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** The colours of the console; without a script, those of the system. */
function coloursIn(base: string): string {
  const [, light, dark] = /(:root \{.*?\n\}).*?:root\[data-scheme="dark"\] (\{.*?\n\})/s.exec(base) ?? []
  if (light === undefined || dark === undefined) throw new Error('base.css declares no colours for :root.')
  return `${light}\n@media (prefers-color-scheme: dark) {\n:root ${dark}\n}\n`
}

function readGlossary(markdown: string): readonly GlossaryRow[] {
  const marked = new Marked()
  const table = marked.lexer(markdown).find((token): token is Tokens.Table => token.type === 'table')
  if (table === undefined) throw new Error('docs/glossary.md has no table.')
  return table.rows.map(([word, means, more]) => ({
    word: textOf(word?.tokens),
    means: textOf(means?.tokens),
    links: (more?.tokens ?? [])
      .filter((token): token is Tokens.Link => token.type === 'link')
      .map(({ href, text }) => ({ to: href.replace('.md', ''), text })),
  }))
}

const textOf = (tokens: readonly Token[] = []): string =>
  tokens
    .map((token) =>
      'tokens' in token && token.tokens ? textOf(token.tokens) : 'text' in token ? token.text : token.raw,
    )
    .join('')
