/// The state of a handler's mailbox. A pure state machine, guarded by its owner's lock.
///
/// Only one job at a time removes changes and calls the handler. The handler therefore receives changes in their
/// order and never runs concurrently with itself.
enum HandlerState: Sendable {
  /// The handler has received all changes, and the buffer is empty. The next change ends this state.
  case idle(ChangeBuffer)
  /// A change was appended. A caller outside all locks must start the job.
  case due(ChangeBuffer)
  /// The job was started and has not yet found the buffer empty.
  case delivering(ChangeBuffer)
  /// The observation has ended. This state is final.
  case ended

  /// Appends a change. Returns whether a caller must start the job.
  mutating func append(_ change: ErasedChange) -> Bool {
    switch take() {
    case .idle(var buffer):
      buffer.append(change)
      self = .due(buffer)
      return true
    case .due(var buffer):
      buffer.append(change)
      self = .due(buffer)
      return false
    case .delivering(var buffer):
      buffer.append(change)
      self = .delivering(buffer)
      return false
    case .ended:
      return false
    }
  }

  /// Returns whether the caller must start the job. Returns true to one caller only.
  mutating func start() -> Bool {
    guard case .due(let buffer) = self else { return false }
    self = .delivering(buffer)
    return true
  }

  /// Whether no change waits for the handler.
  var isEmpty: Bool {
    switch self {
    case .idle(let buffer), .due(let buffer), .delivering(let buffer): buffer.isEmpty
    case .ended: true
    }
  }

  /// Removes and returns the next change; nil if the job must stop.
  mutating func next() -> ErasedChange? {
    switch take() {
    case .delivering(var buffer):
      let change = buffer.popFirst()
      self = change == nil ? .idle(buffer) : .delivering(buffer)
      return change
    case .ended: return nil
    case .idle, .due: preconditionFailure("no job delivers")
    }
  }

  /// Ends the observation. The caller must release the returned state outside all locks.
  mutating func end() -> HandlerState { take() }

  /// Moves the state out and leaves `ended`, so that its buffer has one owner and is changed in place.
  private mutating func take() -> HandlerState {
    defer { self = .ended }
    return self
  }
}
