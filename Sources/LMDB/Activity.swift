/// The operations inside an environment that use no pooled reader: writes, copies and surplus reads. Guarded by the
/// lock of `Environment.activity`.
struct Activity: Sendable {
  /// Whether the last owner closed the environment. No operation may begin when this is true.
  var isClosing = false
  /// The threads inside the environment, with one element for each operation.
  var threads: [UInt] = []
  /// The threads that write or wait for the write lock.
  var writers: [UInt] = []

  /// Removes one operation of the thread.
  mutating func leave(_ thread: UInt) {
    if let index = threads.lastIndex(of: thread) { threads.remove(at: index) }
  }

  /// Removes the thread from the writers.
  mutating func stopWriting(_ thread: UInt) {
    writers.removeAll { $0 == thread }
  }
}
