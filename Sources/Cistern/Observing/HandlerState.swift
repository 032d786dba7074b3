/// What becomes of the changes that a handler is told of: pure, its owner has the lock.
///
/// One job at a time takes changes out and tells the handler; so the handler is told in their order, and never twice at
/// once.
enum HandlerState: Sendable {
  /// Once everything is told, until a change comes. The buffer is empty.
  case idle(ChangeBuffer)
  /// Once a change has come, until somebody outside all locks starts the job.
  case due(ChangeBuffer)
  /// Once the job is started, until it finds nothing left.
  case telling(ChangeBuffer)
  /// Once cancelled, for ever.
  case ended

  /// Takes a change in; whether the job has to be started.
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
    case .telling(var buffer):
      buffer.append(change)
      self = .telling(buffer)
      return false
    case .ended:
      return false
    }
  }

  /// Whether the caller has to start the job; it is said once.
  mutating func start() -> Bool {
    guard case .due(let buffer) = self else { return false }
    self = .telling(buffer)
    return true
  }

  /// The next change to tell; nil when the job has to stop.
  mutating func next() -> ErasedChange? {
    guard case .telling(var buffer) = take() else { return nil }
    let change = buffer.popFirst()
    self = change == nil ? .idle(buffer) : .telling(buffer)
    return change
  }

  /// Ends; the former state is for the caller to free, outside all locks.
  mutating func end() -> HandlerState { take() }

  /// Moves the state out, so that its buffer has one owner and is changed in place. Leaves `ended`.
  private mutating func take() -> HandlerState {
    defer { self = .ended }
    return self
  }
}
