import MynahSupport

/// The two slots of a device with MCUboot.
///
/// The primary slot has the running image, and the secondary slot is for an update. The bootloader swaps the
/// images of the slots.
struct ImageSlots: Sendable {
    /// The image that the bootloader starts next.
    enum NextBoot: Hashable, Sendable {
        /// The running image is started again.
        case active
        /// The secondary image is started once, and remains only if it is confirmed.
        case test
        /// The secondary image is started, and remains.
        case permanent
        /// The running image was started as a test; the previous image in the secondary slot is started
        /// again.
        case revert
    }

    /// An upload request, with a part of the image.
    struct Chunk: Hashable, Sendable {
        var offset: Int
        var data: [UInt8] = []
        /// The length of the whole image; only the first chunk has it.
        var length: Int?
        /// The SHA-256 of the whole upload; only the first chunk has it.
        var hash: [UInt8]?
        /// Whether the image must be newer than the running one.
        var isUpgrade = false
    }

    /// The answer to a chunk.
    struct Progress: Hashable, Sendable {
        /// The offset of the next chunk.
        var offset: Int
        /// Whether the complete upload matches the hash in its first chunk.
        ///
        /// The value is `nil` until the upload is complete, and if the first chunk had no hash.
        var matches: Bool?
    }

    private struct Upload: Sendable {
        var length: Int
        var hash: [UInt8]?
        var offset = 0
        var all = SHA256()
        var reader: ImageReader
    }

    /// The size of a slot, in bytes.
    static let size = 1 << 20
    static let hashLength = 32

    private(set) var primary = FirmwareImage(
        version: .init(major: 1), hash: SHA256.digest("Mynah 1.0.0".utf8))
    private(set) var secondary: FirmwareImage?
    private(set) var next = NextBoot.active
    private var upload: Upload?

    /// The images as MCUmgr's image list.
    var list: CBOR {
        var images = [entry(primary, slot: 0)]
        if let secondary { images.append(entry(secondary, slot: 1)) }
        return .map([.init("images", .array(images)), .init("splitStatus", .unsigned(0))])
    }

    private func entry(_ image: FirmwareImage, slot: UInt64) -> CBOR {
        let isActive = slot == 0
        return .map([
            .init("slot", .unsigned(slot)),
            .init("version", .text(image.version.description)),
            .init("hash", .bytes(image.hash)),
            .init("bootable", .boolean(image.isBootable)),
            .init("pending", .boolean(!isActive && (next == .test || next == .permanent))),
            .init("confirmed", .boolean(isActive == (next != .revert))),
            .init("active", .boolean(isActive)),
            .init("permanent", .boolean(!isActive && next == .permanent)),
        ])
    }

    // MARK: State

    /// Selects the image to start after the next restart, by its hash; `nil` means the running image.
    ///
    /// With `confirm`, the image remains; otherwise it is started only once.
    mutating func select(_ hash: [UInt8]?, confirm: Bool) throws(ManagementError) {
        guard hash != nil || confirm else { throw .image(.invalidHash) }
        let isActive = hash == nil || hash == primary.hash
        guard isActive || hash == secondary?.hash else { throw .image(.hashNotFound) }
        if isActive, !confirm { throw .image(.testOfActiveDenied) }
        switch (next, isActive, confirm) {
        case (.active, true, _), (.permanent, false, true), (.revert, false, true), (.test, false, false):
            break
        case (.active, false, true): next = .permanent
        case (.active, false, false): next = .test
        case (.revert, true, _): next = .active
        case (.test, _, _), (.permanent, _, _), (.revert, _, _): throw .image(.alreadyPending)
        }
    }

    /// Erases the secondary slot.
    mutating func erase(slot: UInt64) throws(ManagementError) {
        guard slot <= 1 else { throw .image(.invalidSlot) }
        guard slot == 1, next == .active else { throw .image(.noFreeSlot) }
        (secondary, upload) = (nil, nil)
    }

    /// Restarts the device.
    ///
    /// The bootloader erases an image that does not match its hash.
    mutating func boot() {
        upload = nil
        switch next {
        case .active: break
        case .revert: swap()
        case .test, .permanent:
            guard let image = secondary, image.isValid, image.isBootable else {
                (secondary, next) = (nil, .active)
                break
            }
            swap(then: next == .test ? .revert : .active)
        }
    }

    private mutating func swap(then next: NextBoot = .active) {
        self.next = next
        guard let image = secondary else { return }
        (primary, secondary) = (image, primary)
    }

    // MARK: Upload

    /// Adds the next chunk of an upload, and returns the progress.
    ///
    /// A chunk with an unexpected offset is ignored; the progress then has the expected offset. A first
    /// chunk with the hash of an interrupted upload resumes that upload.
    mutating func add(_ chunk: Chunk) throws(ManagementError) -> Progress {
        if chunk.offset == 0 {
            if let progress = try begin(chunk) { return progress }
        }
        guard var upload, chunk.offset == upload.offset else {
            return Progress(offset: upload?.offset ?? 0)
        }
        guard chunk.data.count <= upload.length - upload.offset else {
            self.upload = nil
            throw .image(.overrun)
        }
        // Otherwise, the hashes would have two owners, and would be copied.
        self.upload = nil
        upload.offset += chunk.data.count
        upload.all.update(chunk.data)
        upload.reader.add(chunk.data)
        guard upload.offset == upload.length else {
            self.upload = upload
            return Progress(offset: upload.offset)
        }
        secondary = upload.reader.image
        return Progress(offset: upload.offset, matches: upload.hash.map { $0 == upload.all.digest })
    }

    /// Starts an upload and returns `nil`, or returns the progress of an interrupted upload with the same
    /// hash.
    private mutating func begin(_ chunk: Chunk) throws(ManagementError) -> Progress? {
        let header = try ImageHeader(chunk.data)
        guard let length = chunk.length else { throw .image(.invalidLength) }
        guard chunk.hash.map({ $0.count == Self.hashLength }) ?? true else { throw .image(.invalidHash) }
        if let upload, let hash = chunk.hash, upload.hash == hash, upload.length == length {
            return Progress(offset: upload.offset)
        }
        guard next == .active else { throw .image(.noFreeSlot) }
        guard length <= Self.size else { throw .image(.tooLarge) }
        if chunk.isUpgrade, header.version <= primary.version { throw .image(.currentIsNewer) }
        secondary = nil
        upload = Upload(length: length, hash: chunk.hash, reader: ImageReader(header))
        return nil
    }
}
