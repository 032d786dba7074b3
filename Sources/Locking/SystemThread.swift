#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread of the operating system, for work that a task cannot do. A write transaction of LMDB must end on the
/// thread that began it. A thread of the cooperative pool must not wait for a disk.
package enum SystemThread {
  /// Starts a thread like ``start(_:)`` that writes to large files. It blocks ``FileSizeSignal``, so that a write beyond
  /// the process's limit on file sizes fails and does not end the process.
  package static func startForWriting(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
    try start {
      FileSizeSignal.block()
      body()
    }
  }

  /// Starts a detached thread that runs `body` once. Throws the system's status if no thread can be created.
  package static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
    // The thread releases the box. If no thread was created, the code below does.
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
  // `start` retained the object for exactly this call.
  unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
