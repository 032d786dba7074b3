import CisternCore
import LMDB
import Locking

/// The note of an open data file by which the next opening recognizes it: its fingerprint in the mark.
///
/// If a file has another fingerprint when it is opened, another program changed it, or a commit did not end. Its
/// pages are then checked before LMDB opens it.
///
/// If another program changes the file while it is open, this process no longer vouches for it, even after further
/// commits. Another process of the store is recognized by its own note. If both processes write at the same time,
/// the next opening may check the file unnecessarily.
final class FileNote: Sendable {
  private enum State {
    /// The file has had this fingerprint since the last note.
    case left(DataFileFingerprint)
    /// This process has begun a change that is not noted yet.
    case changing
    /// Another program has changed the file, or the device may lack pages of it. The file has had this size in bytes.
    case foreign(size: Int64)

    /// A size that the file has had, in bytes. LMDB makes no file shorter. Nil if it is not known.
    var formerSize: Int64? {
      switch self {
      case .left(let fingerprint): fingerprint.size
      case .changing: nil
      case .foreign(let size): size
      }
    }
  }

  private let state = Guarded(State.changing)

  /// Begins the note of a file that has just been opened.
  ///
  /// - Parameters:
  ///   - environment: The environment of the file.
  ///   - claim: The claim on the directory.
  ///   - isTrusted: Whether all contents of the file are known to be sound.
  func begin(_ environment: Environment, _ claim: DirectoryClaim, isTrusted: Bool) {
    state.withLock { $0 = isTrusted ? .changing : .foreign(size: FileNote.size(of: environment)) }
    noteChanges(of: environment, claim)
  }

  /// Checks before a change whether another program changed the file. Call this method before each change.
  ///
  /// Throws `truncated` if the file is shorter than before. LMDB has mapped the file, and a read of the missing
  /// part would end the process.
  func expectChange(of environment: Environment, _ claim: DirectoryClaim) throws(LMDBError) {
    try state.withLock { (state) throws(LMDBError) in
      guard let formerSize = state.formerSize else { return }
      // A file whose state is unknown counts as foreign.
      let current = try? environment.dataFileFingerprint()
      if let current, current.size < formerSize {
        throw LMDBError(
          .truncated, operation: "commit", message: "another program truncated the data file while it was open")
      }
      let size = current?.size ?? formerSize
      guard case .left(let known) = state else {
        // No fingerprint ends the distrust.
        state = .foreign(size: size)
        return
      }
      let isOurs = current != nil && (current == known || current == claim.notedFingerprint())
      state = isOurs ? .changing : .foreign(size: size)
      if !isOurs { claim.note(nil) }
    }
  }

  /// Ends the trust in the file after a failed write-through. The next opening checks its pages.
  func distrust(_ environment: Environment, _ claim: DirectoryClaim) {
    state.withLock { state in
      state = .foreign(size: state.formerSize ?? FileNote.size(of: environment))
      claim.note(nil)
    }
  }

  /// Returns the size of the file in bytes, or zero if it cannot be examined.
  private static func size(of environment: Environment) -> Int64 {
    (try? environment.dataFileFingerprint())?.size ?? 0
  }

  /// Notes the fingerprint that changes left the file with. Does nothing without changes.
  func noteChanges(of environment: Environment, _ claim: DirectoryClaim) {
    state.withLock { state in
      // The next opening checks a file without a note. If the history cannot be read, the recorded one stays.
      guard case .changing = state, let fingerprint = try? environment.fingerprintDataFile() else { return }
      claim.note(fingerprint, (try? environment.history()) ?? nil)
      state = .left(fingerprint)
    }
  }

  /// Returns the final fingerprint for the mark of a closed store, or nil if this process cannot vouch for the
  /// file.
  func fingerprintAtEnd(of environment: Environment, _ claim: DirectoryClaim) -> DataFileFingerprint? {
    do {
      try expectChange(of: environment, claim)
    } catch {
      return nil
    }
    noteChanges(of: environment, claim)
    return state.withLock { if case .left(let fingerprint) = $0 { fingerprint } else { nil } }
  }
}
