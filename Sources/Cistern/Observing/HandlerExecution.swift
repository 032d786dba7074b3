/// The place where an observer's handler is called.
package enum HandlerExecution: Sendable {
  /// On a thread of the library's own, where it may block.
  case threads
  /// In a task on this executor.
  case executor(any TaskExecutor)
  /// On the main actor.
  case mainActor
}
