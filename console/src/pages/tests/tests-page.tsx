/** `/endpoints/:id/tests`: the stored tests, what they found the last time, and changing them. */
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { StoredTest } from '../../api/run-calls.ts'
import { useRefusal } from '../../api/session.ts'
import { Button } from '../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../ui/controls/dialog.tsx'
import { EndpointPage } from '../../ui/endpoint/endpoint-page.tsx'
import { FailureNotice } from '../../ui/states/failure-notice.tsx'
import { Empty, QueryView } from '../../ui/states/states.tsx'
import { VisibleText } from '../../ui/text/visible-text.tsx'
import { RunSummary } from './run-summary.tsx'
import { useStoredTests } from './stored-tests.ts'
import { TestCard } from './test-card.tsx'
import { TestEditor } from './test-editor.tsx'
import { newTest } from './test-file.ts'
import { useTestRuns } from './test-runs.ts'

const route = getRouteApi('/endpoints/$id/tests')

/** A name: of the test that is edited; null: a new one. */
type Edited = Readonly<{ original: StoredTest | null; test: StoredTest }>

export function TestsPage() {
  const { id } = route.useParams()
  const stored = useStoredTests(id)
  const refused = useRefusal('author')
  const runs = useTestRuns(id, stored.query.data?.file, refused === undefined)
  const [edited, setEdited] = useState<Edited>()
  const [deleted, setDeleted] = useState<StoredTest>()
  const tests = stored.query.data?.file.tests ?? []
  const add = () => setEdited({ original: null, test: newTest(tests) })
  return (
    <EndpointPage
      id={id}
      part="Tests"
      actions={
        <>
          <Button refused={refused} onPress={add}>
            New test …
          </Button>
          <Button
            tone="primary"
            keys="Control+Enter"
            refused={refused ?? (tests.length === 0 ? 'There are no tests to run.' : undefined)}
            busy={runs.isRunning}
            onPress={() => runs.runAll()}
          >
            Run all
          </Button>
        </>
      }
    >
      <QueryView query={stored.query} what="Loading the tests">
        {({ file }) =>
          file.tests.length === 0 ? (
            <NoTests id={id} />
          ) : (
            <>
              <RunSummary runs={runs} total={file.tests.length} refused={refused} />
              <FailureNotice failure={runs.failure} onRetry={() => runs.runAll()} />
              <ul className="stack" aria-label="Tests">
                {file.tests.map((test) => (
                  <TestCard
                    key={test.name}
                    id={id}
                    test={test}
                    run={runs.findResult(test.name)}
                    refused={refused}
                    isRunning={runs.isRunning}
                    onRun={() => runs.runOne(test)}
                    onEdit={() => setEdited({ original: test, test })}
                    onSkip={(reason) =>
                      stored.save(test, { ...withoutSkip(test), ...(reason !== undefined && { skip: reason }) })
                    }
                    onDelete={() => setDeleted(test)}
                  />
                ))}
              </ul>
            </>
          )
        }
      </QueryView>
      {edited !== undefined && (
        <TestEditor
          title={edited.original === null ? 'New test' : `Edit the test “${edited.original.name}”`}
          test={edited.test}
          onSave={async (test) => {
            await stored.save(edited.original, test)
            runs.forget(edited.original?.name)
          }}
          onClose={() => setEdited(undefined)}
        />
      )}
      {deleted !== undefined && (
        <ConfirmDialog
          title="Delete this test"
          confirm="Delete test"
          tone="danger"
          onConfirm={() => stored.save(deleted, null)}
          onClose={() => setDeleted(undefined)}
        >
          <p>
            The test “<VisibleText text={deleted.name} />” is deleted for everybody. It cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </EndpointPage>
  )
}

const withoutSkip = ({ skip: _, ...test }: StoredTest): StoredTest => test as StoredTest

function NoTests({ id }: Readonly<{ id: string }>) {
  return (
    <Empty
      title="There are no tests yet"
      action={
        <Link className="button" to="/endpoints/$id/edit" params={{ id }}>
          Open the editor
        </Link>
      }
    >
      A test is a message with what must come of it. Run a message in the editor and save it as a test; it then runs at
      each change of the endpoint.
    </Empty>
  )
}
