#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread of the system's own, for what a task cannot do: LMDB's write transactions must end where they began, and
/// nothing of the cooperative pool may wait for a disk.
enum SystemThread {
  /// Starts a detached thread that runs `body` once. Throws the system's status where there can be no more threads.
  static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
    // Released by the thread, or below where there is none.
    let box = unsafe Unmanaged.passRetained(ThreadBody(body))
    #if canImport(Darwin)
      var thread: pthread_t?
      let status = unsafe pthread_create(&thread, nil, { runThread($0) }, box.toOpaque())
      if status == 0, let thread = unsafe thread { unsafe pthread_detach(thread) }
    #else
      var thread = pthread_t()
      let status = unsafe pthread_create(&thread, nil, { unsafe runThread($0!) }, box.toOpaque())
      if status == 0 { pthread_detach(thread) }
    #endif
    guard status == 0 else {
      unsafe box.release()
      throw SystemError(status: status, operation: "start a thread")
    }
  }
}

private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) {
    self.run = run
  }
}

private func runThread(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  // Retained by `start` for this one use.
  unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
  return nil
}

/// A call of the system's that failed.
package struct SystemError: Error, CustomStringConvertible {
  package let status: Int32
  package let operation: String

  package init(status: Int32, operation: String) {
    self.status = status
    self.operation = operation
  }

  package var description: String {
    unsafe strerror(status).map { unsafe "\(operation): \(String(cString: $0))" } ?? "\(operation): error \(status)"
  }
}
