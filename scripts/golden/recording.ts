/** Where a recording goes: files with a section for each call. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { StableText } from './stable-text.ts'

export class Recording {
  /** The root of the tree whose product is recorded. */
  readonly tree: string
  /** A folder for whatever the product writes. */
  readonly work: string
  readonly stable: StableText
  calls = 0
  private readonly out: string
  private readonly files = new Map<string, string[]>()

  constructor(tree: string, out: string, work: string, stable: StableText) {
    this.tree = tree
    this.out = out
    this.work = work
    this.stable = stable
  }

  count(): void {
    this.calls += 1
  }

  write(file: string, title: string, text: string): void {
    const sections = this.files.get(file) ?? []
    sections.push(`### ${this.stable.of(title)}\n${this.stable.of(text)}\n`)
    this.files.set(file, sections)
  }

  /** A file of the product. */
  copy(file: string, text: string): void {
    this.files.set(file, [this.stable.of(text)])
  }

  save(): void {
    for (const [file, sections] of this.files) {
      const path = join(this.out, file)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, sections.join('\n'))
    }
  }
}
