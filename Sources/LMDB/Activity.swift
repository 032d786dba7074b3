/// Who uses an environment otherwise than by a pooled reader: writers, copies, surplus readers. Guarded by
/// `Environment.activity`.
struct Activity: Sendable {
  /// Once the last owner closed the environment; nothing begins any more.
  var isClosing = false
  /// The threads inside, one entry for each thing that they do.
  var threads: [UInt] = []
  /// The threads that write, or wait to.
  var writers: [UInt] = []

  /// One of the thread's uses ended.
  mutating func leave(_ thread: UInt) {
    if let index = threads.lastIndex(of: thread) { threads.remove(at: index) }
  }

  /// The thread's write transaction ended.
  mutating func stopWriting(_ thread: UInt) {
    writers.removeAll { $0 == thread }
  }
}
