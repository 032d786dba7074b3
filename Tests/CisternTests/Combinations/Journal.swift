import Locking

/// The recorder of a trial's events.
final class Journal: Sendable {
  private let state = Guarded((record: Record(), tick: 0, lastMark: 0))

  var record: Record { state.withLock { $0.record } }

  func tick() -> Int {
    state.withLock { state in
      state.tick += 1
      return state.tick
    }
  }

  /// Creates a mark with the current tick as its birth.
  func mark(_ author: Record.Author, isOverNothing: Bool = false) -> Int {
    let tick = tick()
    return state.withLock { state in
      state.lastMark += 1
      state.record.marks[state.lastMark] = Record.Mark(author: author, born: tick, isOverNothing: isOverNothing)
      return state.lastMark
    }
  }

  @discardableResult
  func change<Result>(_ body: (inout Record) -> Result) -> Result { state.withLock { body(&$0.record) } }

  /// Returns the span from a tick to now.
  func span(since began: Int) -> Record.Span { Record.Span(began: began, ended: tick()) }

  func noteStored(_ mark: Int, since began: Int) {
    let span = span(since: began)
    change { $0.stored.append((mark, span)) }
  }

  func noteErasure(_ kind: Record.Erasure, since began: Int) {
    let span = span(since: began)
    change { $0.erasures.append((kind, span)) }
  }

  func noteLoss(_ kind: Record.Loss, since began: Int) {
    let span = span(since: began)
    change { $0.losses.append((kind, span)) }
  }

  func noteLookUp(_ document: Document?, since began: Int) {
    let span = span(since: began)
    change { $0.lookUps.append((document, span)) }
  }
}
