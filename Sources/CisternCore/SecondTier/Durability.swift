import Locking

/// The events that a committed write survives.
///
/// Neither kind leaves corrupt contents. After a power cut, a file that cannot be trusted is set aside and
/// reported, and an empty one replaces it.
///
/// A write is staged first, and committed together with other writes soon after
/// (``Store/Configuration/commitInterval``). A crash of the process and a power cut both lose staged writes that
/// are not committed yet. If such a write replaced or removed a value on disk, the old value is back. To prevent
/// this, wait for the commit, or call ``Store/flush()``.
public enum Durability: Sendable, Hashable {
  /// Each commit is written through to the device, in order.
  ///
  /// A process crash loses no commit. A power cut loses at most the newest commit. If a caller waited for that
  /// commit or flushed, the store synchronized it before the caller resumed, and it is not lost. The file is always
  /// complete.
  ///
  /// Each commit costs one synchronous write to the device.
  case powerCut

  /// Commits are handed to the operating system, which writes them at any later time.
  ///
  /// A process crash loses no commit. A power cut or a crash of the system loses the whole file, unless the store
  /// was closed before. The operating system may have written only some of the pages. The next opening therefore
  /// sets the file aside unread, and creates an empty one.
  ///
  /// Small commits are faster than with ``powerCut``, because they do not wait for the device.
  case processCrash
}
