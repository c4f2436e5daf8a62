package org.example;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;

@RestController
class Uploads {
    @PostMapping("/upload")
    String upload(@RequestParam("title") String title, @RequestParam("file") MultipartFile file) throws Exception {
        return title + " " + file.getBytes().length;
    }
}
