import CisternTestSupport
import Cistern
import Testing

/// The examples of "Deployment".
@Suite struct DeploymentSnippets: Examples {
  @Test func `backing up, checking and compacting`() async throws {
    let scratch = TemporaryDirectory()
    let (path, backupPath) = (scratch.store, scratch.path + "/copy")
    let store = try Store(directory: path, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(8))
    try store.cache("articles", of: Article.self, keyedBy: String.self)[id] = edited
    try await store.backup(to: backupPath)

    let verification = try await store.verify()
    for defect in verification.defects { print(defect) }
    #expect(verification.isSound && verification.recordCount == 1)

    try await store.close()
    let sizes = try await Store.compact(directory: path)
    print("\(sizes.before) before, \(sizes.after) after")

    let copy = try Store(directory: backupPath, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(8))
    #expect(try copy.cache("articles", of: Article.self, keyedBy: String.self)[id] == edited)
    try await copy.close()
  }
}
