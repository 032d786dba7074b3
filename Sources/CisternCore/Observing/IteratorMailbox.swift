import Locking

/// The mailbox of a sequence's iterator. Changes wait in it until the consumer requests them.
final class IteratorMailbox: Mailbox {
  private typealias Waiter = CheckedContinuation<ErasedChange?, Never>
  private typealias State = IteratorState<Waiter>

  private let state: Guarded<State>

  init(buffering: ChangeBuffer.Policy) {
    state = Guarded(.open(ChangeBuffer(buffering)))
  }

  func append(_ change: ErasedChange) -> Bool {
    state.withLock { $0.append(change) }
  }

  func startDelivery() {
    deliverDeferred(state.withLock { $0.deliverDeferred() })
  }

  func finish() {
    deliverDeferred(state.withLock { $0.finish() })
  }

  func end() {
    // The former state is released on return, outside the lock.
    let former = state.withLock { $0.end() }
    if case .waited(let waiters, _) = former {
      for waiter in waiters { waiter.resume(returning: nil) }
    }
  }

  /// Removes and returns all changes, and keeps later ones by another policy. The consumer must not wait.
  func takeAll(continuingWith policy: ChangeBuffer.Policy) -> [ErasedChange] {
    state.withLock { $0.takeAll(continuingWith: policy) }.changes
  }

  /// Waits for the next change and returns it. Returns nil at the end. A cancelled task ends the mailbox and
  /// receives nil.
  func next(isolation: isolated (any Actor)?) async -> ErasedChange? {
    if Task.isCancelled {
      end()
      return nil
    }
    switch state.withLock({ $0.next() }) {
    case .change(let change): return change
    case .end: return nil
    case .nothing: break
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { waiter in
        deliverDeferred(state.withLock { $0.wait(waiter) })
      }
    } onCancel: {
      end()
    }
  }

  private func deliverDeferred(_ handover: State.DeferredWork) {
    for (waiter, change) in handover.changes { waiter.resume(returning: change) }
    for waiter in handover.ends { waiter.resume(returning: nil) }
  }
}
