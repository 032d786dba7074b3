import CSupport

/// Tells ThreadSanitizer the order of a lock's critical sections. Only builds that define `THREAD_SANITIZER` contain
/// it.
#if THREAD_SANITIZER
  @usableFromInline
  final class SanitizerMark: Sendable {
    @usableFromInline
    init() {}

    /// Orders the following code after all earlier calls of ``release()``.
    @usableFromInline
    func acquire() {
      unsafe cistern_tsan_acquire(Unmanaged.passUnretained(self).toOpaque())
    }

    @usableFromInline
    func release() {
      unsafe cistern_tsan_release(Unmanaged.passUnretained(self).toOpaque())
    }
  }
#endif
