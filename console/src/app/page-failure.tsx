/** What is shown in place of a page that does not exist, or whose code failed. */
import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { asFailure } from '../api/api-failure.ts'
import { FailureNotice } from '../ui/states/failure-notice.tsx'
import { Page } from '../ui/states/page.tsx'
import { Empty } from '../ui/states/states.tsx'

export function PageMissing() {
  return (
    <Page title="Page not found">
      <Empty title="There is nothing at this address" action={<Link to="/endpoints">To the endpoints</Link>}>
        The link may be of another version of the service, or have been cut when it was copied.
      </Empty>
    </Page>
  )
}

/** After an update of the service, parts of the old page are gone: loading it again gets the new one. */
export function PageFailure({ error }: ErrorComponentProps) {
  return (
    <Page title="This page cannot be shown">
      <FailureNotice failure={asFailure(error)} onRetry={() => location.reload()} />
    </Page>
  )
}
