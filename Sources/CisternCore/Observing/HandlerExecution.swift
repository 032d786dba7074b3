/// The context in which an observer's handler is called.
package enum HandlerExecution: Sendable {
  /// A thread of the library, which the handler may block.
  case threads
  /// A task on this executor.
  case executor(any TaskExecutor)
  /// The main actor.
  case mainActor
}
