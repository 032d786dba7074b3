import CSupport

/// A pause of a thread that waits for progress of other threads, without a signal for it.
@usableFromInline
package enum ShortPause {
  /// Suspends the thread for about 50 microseconds. The other threads may have a lower priority, so yielding would not
  /// be enough.
  @usableFromInline
  package static func wait() { cistern_wait_shortly(128) }
}
