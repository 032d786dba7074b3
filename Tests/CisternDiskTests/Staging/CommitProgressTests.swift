import CisternTestSupport
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

struct CommitProgressTests {
  private static let failure = CisternError(.diskFailed, "broken", location: "a test")

  private final class Subject: Sendable {
    let progress = Guarded(CommitProgress())

    /// Starts a task that waits for a write, and returns after the task has begun to wait.
    func wait(_ ticket: CommitTicket, countsEarlier: Bool) async -> Task<CisternError.Code?, Never> {
      let hasCome = Guarded(false)
      let task = Task { () -> CisternError.Code? in
        let error: CisternError? = await withCheckedContinuation { continuation in
          let waiter = CommitProgress.Waiter(ticket: ticket, countsEarlier: countsEarlier, continuation: continuation)
          progress.withLock { $0.wait(waiter) }?.resume()
          hasCome.withLock { $0 = true }
        }
        return error?.code
      }
      while !hasCome.withLock({ $0 }) { await Task.yield() }
      return task
    }

    func settle(_ ticket: CommitTicket, failed: ClosedRange<CommitTicket>? = nil) {
      if let failed { note(failed) }
      let ready = progress.withLock { progress in
        progress.settle(through: ticket)
        return progress.makeDurable()
      }
      for one in ready { one.resume() }
    }

    func note(_ failed: ClosedRange<CommitTicket>) {
      let failure = CommitProgress.Failure(tickets: failed, error: CommitProgressTests.failure)
      progress.withLock { $0.note([failure], through: 0, error: nil) }
    }
  }

  @Test func `a flush receives every failure since its call, in any commit group, and no earlier failure`() async {
    let subject = Subject()
    let early = await subject.wait(10, countsEarlier: true)
    subject.settle(7, failed: 3...3)
    // This flush begins after the failure, and before its commit group is settled for all writes.
    let late = await subject.wait(11, countsEarlier: true)
    subject.settle(11)
    #expect(await early.value == .diskFailed)
    #expect(await late.value == nil)
  }

  @Test func `a flush does not receive a failure that was recorded before the flush began`() async {
    let subject = Subject()
    // The write is in a commit group that settles only the numbers up to 10.
    subject.note(12...12)
    let flush = await subject.wait(15, countsEarlier: true)
    subject.settle(10)
    subject.settle(15)
    #expect(await flush.value == nil)
    // A waiter for this single write receives the error, even if it begins to wait late.
    #expect(await subject.wait(12, countsEarlier: false).value == .diskFailed)
    #expect(await subject.wait(13, countsEarlier: false).value == nil)
  }
}
