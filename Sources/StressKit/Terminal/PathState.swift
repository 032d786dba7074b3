import Foundation
import InputFormats

/// The state of the file that a path leads to.
enum PathState: Equatable {
  case present
  case absent
  /// A symbolic link to a path that does not exist.
  case danglingLink(to: String)
  /// The path has a symbolic link that leads back to itself.
  case linkLoop
  /// The path cannot be followed for the reason.
  case unreadable(String)

  init(_ path: String) {
    var status = stat()
    if unsafe stat(path, &status) == 0 {
      self = .present
      return
    }
    switch errno {
    case ELOOP: self = .linkLoop
    case ENOENT:
      // A path that is no link has no destination.
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
      self = target.map { .danglingLink(to: $0) } ?? .absent
    case let code: self = .unreadable(systemErrorMessage(code))
    }
  }
}
