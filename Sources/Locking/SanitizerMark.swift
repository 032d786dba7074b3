import CThreadSanitizer

/// Tells ThreadSanitizer which critical sections a lock orders. It is there in its builds alone, which define
/// `THREAD_SANITIZER`.
#if THREAD_SANITIZER
  @usableFromInline
  final class SanitizerMark: Sendable {
    @usableFromInline
    init() {}

    /// What follows comes after everything that was released.
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
