import Foundation

/// The temporary files of an output file: one for each process that writes it.
struct PartialFiles {
  private let folder: URL
  /// The name of a temporary file without the number of its process.
  private let prefix: String

  /// - Parameter target: The path of the output file.
  init(of target: String) {
    let target = URL(fileURLWithPath: target)
    folder = target.deletingLastPathComponent()
    prefix = target.lastPathComponent + ".partial-"
  }

  /// The path of the temporary file of this process.
  var path: String { path(ProcessInfo.processInfo.processIdentifier) }

  private func path(_ process: Int32) -> String { folder.appendingPathComponent("\(prefix)\(process)").path }

  /// Removes the files of processes that were killed.
  ///
  /// A file stays if a process with its number runs, if its name differs in any character, or if it is no plain file.
  func removeAbandoned() {
    // A folder that cannot be listed has no files to remove. The creation of the output file gives the reason.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for process in names.compactMap(process(ofName:)) where !PartialFiles.isRunning(process) {
      let path = path(process)
      let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
      // Another export may have removed the file since.
      if type == .typeRegular { try? FileManager.default.removeItem(atPath: path) }
    }
  }

  /// Returns the number of the process in a name, or nil for the name of another file.
  private func process(ofName name: String) -> Int32? {
    guard name.hasPrefix(prefix), let number = Int32(name.dropFirst(prefix.count)), number > 0 else { return nil }
    // The number has one form only: no sign, and no zero at the start.
    return name == "\(prefix)\(number)" ? number : nil
  }

  private static func isRunning(_ process: Int32) -> Bool {
    kill(process, 0) == 0 || errno != ESRCH
  }
}
