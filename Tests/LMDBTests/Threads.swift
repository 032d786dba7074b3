#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread for one test. A test must not block a thread of the cooperative pool, because it could block all tasks.
final class JoinableThread: Sendable {
  private let thread: UInt

  /// Starts a thread that runs `body`.
  init(_ body: @escaping @Sendable () -> Void) {
    thread = unsafe start(Unmanaged.passRetained(Work(body: body)).toOpaque())
  }

  /// Waits until `body` returns.
  func join() {
    #if canImport(Glibc)
      pthread_join(pthread_t(thread), nil)
    #else
      unsafe pthread_join(pthread_t(bitPattern: thread)!, nil)
    #endif
  }
}

private final class Work: Sendable {
  let body: @Sendable () -> Void

  init(body: @escaping @Sendable () -> Void) {
    self.body = body
  }
}

private func start(_ work: UnsafeMutableRawPointer) -> UInt {
  #if canImport(Glibc)
    var thread = pthread_t()
    unsafe pthread_create(&thread, nil, { unsafe run($0) }, work)
    return UInt(thread)
  #else
    var thread: pthread_t?
    unsafe pthread_create(&thread, nil, { unsafe run($0) }, work)
    return UInt(bitPattern: thread)
  #endif
}

private func run(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  unsafe Unmanaged<Work>.fromOpaque(work!).takeRetainedValue().body()
  return nil
}
