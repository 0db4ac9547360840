import TestSupport

/// The least work for a thumbnail with libjpeg, as a program in C.
///
/// It decodes at the smallest sufficient scale, averages by box, and encodes. No decoder on this library can be much
/// faster, and its pictures are poor.
enum LeastWork {
    /// Compiles the program into a folder; nil without a compiler or the library's headers.
    static func compiled(in folder: String) async throws -> String? {
        guard let compiler = Program.system("cc") else { return nil }
        let path = folder + "/least-work"
        try LocalFiles.write(source, to: path + ".c")
        let result = try await Program.run(compiler, ["-O2", path + ".c", "-o", path, "-ljpeg"])
        return result.status == 0 ? path : nil
    }

    /// The program, called with the size, the folder for the results, and photos.
    private static let source = #"""
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <jpeglib.h>
        int main(int argc, char **argv) {
            int size = atoi(argv[1]);
            for (int i = 3; i < argc; i++) {
                FILE *in = fopen(argv[i], "rb");
                if (!in) return 66;
                struct jpeg_decompress_struct d; struct jpeg_error_mgr e;
                d.err = jpeg_std_error(&e);
                jpeg_create_decompress(&d);
                jpeg_stdio_src(&d, in);
                jpeg_read_header(&d, TRUE);
                int w, h;
                double scale = (double)size / (d.image_width > d.image_height ? d.image_width : d.image_height);
                w = d.image_width * scale + 0.5; h = d.image_height * scale + 0.5;
                d.scale_denom = 8;
                d.scale_num = 1;
                while (d.scale_num < 8 && d.image_width * d.scale_num < 8 * w) d.scale_num *= 2;
                d.out_color_space = JCS_RGB;
                jpeg_start_decompress(&d);
                int sw = d.output_width, sh = d.output_height;
                unsigned char *row = malloc(sw * 3), *out = malloc((size_t)w * h * 3);
                unsigned *sum = calloc(w * 3, sizeof *sum), *count = calloc(w, sizeof *count);
                int y = 0, rows = 0;
                for (int x = 0; x < sw; x++) count[(long)x * w / sw]++;
                while (d.output_scanline < d.output_height) {
                    int at = d.output_scanline;
                    jpeg_read_scanlines(&d, &row, 1);
                    for (int x = 0; x < sw; x++) {
                        unsigned *s = sum + (long)x * w / sw * 3;
                        s[0] += row[3*x]; s[1] += row[3*x+1]; s[2] += row[3*x+2];
                    }
                    rows++;
                    if ((long)(at + 1) * h / sh != y) {
                        for (int x = 0; x < 3 * w; x++) out[(long)y * w * 3 + x] = sum[x] / (count[x / 3] * rows);
                        memset(sum, 0, w * 3 * sizeof *sum); rows = 0; y++;
                    }
                }
                jpeg_finish_decompress(&d); jpeg_destroy_decompress(&d); fclose(in);
                char path[4096]; snprintf(path, sizeof path, "%s/%s", argv[2], strrchr(argv[i], '/') + 1);
                FILE *to = fopen(path, "wb");
                struct jpeg_compress_struct c; c.err = jpeg_std_error(&e);
                jpeg_create_compress(&c); jpeg_stdio_dest(&c, to);
                c.image_width = w; c.image_height = h; c.input_components = 3; c.in_color_space = JCS_RGB;
                jpeg_set_defaults(&c); jpeg_set_quality(&c, 82, TRUE);
                jpeg_start_compress(&c, TRUE);
                while (c.next_scanline < h) {
                    unsigned char *line = out + (size_t)c.next_scanline * w * 3;
                    jpeg_write_scanlines(&c, &line, 1);
                }
                jpeg_finish_compress(&c); jpeg_destroy_compress(&c); fclose(to);
                free(row); free(out); free(sum); free(count);
            }
            return 0;
        }
        """#
}
