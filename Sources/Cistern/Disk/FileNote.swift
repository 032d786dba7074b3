import LMDB
import Locking

/// What is kept beside an open data file so that the next opening knows it again: in the mark, the file's stamp as this
/// store left it. A file that has another stamp then was changed by somebody else, or by a commit that did not end, and is
/// looked through before LMDB sees it.
///
/// Where somebody else changed the file while it was open here, it is not vouched for any more, whatever is committed
/// afterwards. Another process of ours is told apart by its own note; where both were writing just then, the next opening
/// may look once more than it has to.
final class FileNote: Sendable {
  private enum State {
    /// The file has this stamp since the last note.
    case left(DataFileStamp)
    /// Once a change of our own was begun, until it is noted.
    case changing
    /// Once somebody else changed it.
    case foreign
  }

  private let state = Guarded(State.changing)

  /// Begins beside a file that has just been opened; `isVouchedFor` says whether all that is in it is known to be sound.
  func begin(_ environment: Environment, _ claim: DirectoryClaim, isVouchedFor: Bool) {
    state.withLock { $0 = isVouchedFor ? .changing : .foreign }
    noteChanges(of: environment, claim)
  }

  /// To be called before a change: looks whether another program changed the file. Throws `truncated` if the file is shorter
  /// than it was: LMDB has it mapped, and the process would end when LMDB reads a part that is missing.
  func expectChange(of environment: Environment, _ claim: DirectoryClaim) throws(LMDBError) {
    try state.withLock { (state) throws(LMDBError) in
      guard case .left(let known) = state else { return }
      let present = try? environment.dataFileStamp()
      if let present, present.size < known.size {
        throw LMDBError(
          .truncated, operation: "commit", message: "another program cut the data file off while it was open")
      }
      let isOurs = present != nil && (present == known || present == claim.notedStamp())
      state = isOurs ? .changing : .foreign
      if !isOurs { claim.note(nil) }
    }
  }

  /// To be called after changes: notes how they left the file. Does nothing where there were none.
  func noteChanges(of environment: Environment, _ claim: DirectoryClaim) {
    state.withLock { state in
      guard case .changing = state, let stamp = try? environment.stampDataFile() else { return }
      claim.note(stamp, (try? environment.history()) ?? nil)
      state = .left(stamp)
    }
  }

  /// The stamp that the file is left with, for the mark of a closed store; nil where nobody can vouch for it.
  func stampAtEnd(of environment: Environment, _ claim: DirectoryClaim) -> DataFileStamp? {
    do {
      try expectChange(of: environment, claim)
    } catch {
      return nil
    }
    noteChanges(of: environment, claim)
    return state.withLock { if case .left(let stamp) = $0 { stamp } else { nil } }
  }
}
